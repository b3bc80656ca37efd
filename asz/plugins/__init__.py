"""Finds, loads, blocks and calls adapters: the only place of asz that meets one.

There is no manager at module level: ``load_adapters`` builds one and hands it out inside ``Adapters``.
"""

from asz.plugins.adapter import Adapter
from asz.plugins.installed import Installed, installed_adapters
from asz.plugins.loader import Adapters, AdapterStatus, State, load_adapters
from asz.plugins.selection import Selection

__all__ = [
    "Adapter",
    "AdapterStatus",
    "Adapters",
    "Installed",
    "Selection",
    "State",
    "installed_adapters",
    "load_adapters",
]
