"""What an adapter makes metrics of, and the points it makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from asz_hookspecs.record import Usage

StreamRole = Literal["main", "child", "auxiliary"]
AttributeValue = str | bool | int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCall:
    """One provider call whose usage counts. The core hands each over once."""

    session: str
    stream: str
    role: StreamRole
    """Of the stream its last fragment is in."""
    call: str
    """Provider call id."""
    model: str | None
    usage: Usage
    """Of the last fragment in line order."""
    time: int
    """Of the last fragment, nanoseconds since the epoch, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPoint:
    """One increment of a monotonic sum. The core adds points of one series within a minute and cuts the
    windows."""

    name: str
    description: str = ""
    unit: str = ""
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    value: float
    time: int
    """When it happened, nanoseconds since the epoch, UTC."""
