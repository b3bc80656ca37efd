"""asz.yaml and what overrides it, as typed settings.

pydantic is imported only when there is a file to check: without one the defaults below are the settings.
"""

from asz.config.load import Overrides, load_settings, unread_file
from asz.config.settings import (
    AdapterEntry,
    Collector,
    Export,
    Otlp,
    Parse,
    Settings,
    canonical_name,
)

__all__ = [
    "AdapterEntry",
    "Collector",
    "Export",
    "Otlp",
    "Overrides",
    "Parse",
    "Settings",
    "canonical_name",
    "load_settings",
    "unread_file",
]
