"""What all passes to one receiver share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from asz.config.settings import Otlp
from asz.export.clock import Clock
from asz.export.limiter import Limiter
from asz.storage.root import Root


@dataclass(frozen=True, slots=True)
class Sender:
    """One root and one receiver."""

    root: Root
    otlp: Otlp
    name: str
    """The receiver's."""
    runtimes: Callable[[], Mapping[str, str]]
    """Display names of runtimes by the ``service.name`` of their own exporters; asked once there are
    metrics to send."""
    limiter: Limiter
    clock: Clock
