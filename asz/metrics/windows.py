"""From points in time to windows of series: a minute each, never one over another."""

import hashlib
from collections.abc import Callable, Iterable
from math import fsum
from typing import Final, NamedTuple

from asz_hookspecs.metrics import AttributeValue, MetricPoint

MINUTE_NS: Final = 60 * 1_000_000_000
SHORTEST_NS: Final = 1_000_000
"""Length of a window whose minute is taken already. A millisecond, since there are receivers that keep no
finer times and would take two windows for one."""


class Series(NamedTuple):
    """What one sum is of."""

    name: str
    unit: str
    description: str
    attributes: tuple[tuple[str, AttributeValue], ...]
    """By name."""

    @property
    def identity(self) -> str:
        """What tells series apart; a description does not."""
        # repr, since 1, 1.0 and True are equal to Python and three values to a receiver
        return repr((self.name, self.unit, self.attributes))

    @property
    def key(self) -> str:
        """Digest of the identity."""
        return hashlib.sha256(self.identity.encode()).hexdigest()


class Window(NamedTuple):
    """What a series grew by from ``start`` to ``end``, nanoseconds since the epoch."""

    series: Series
    start: int
    end: int
    value: float


def minute(time: int) -> int:
    """Start of the minute a time is in."""
    return time - time % MINUTE_NS


def cut(points: Iterable[MetricPoint], ended: Callable[[str], int]) -> list[Window]:
    """The windows of some points, by series, each series ascending.

    A window is the minute of its points. When the series has a window that ends later already, it begins
    where that one ends, and lasts until its minute is over, or a millisecond when it is over before that.
    The order of the points changes nothing.

    :param ended: where the last window of the series with a key ends; 0 when it has none.
    """
    named: dict[str, Series] = {}
    values: dict[str, dict[int, list[float]]] = {}
    for point in points:
        attributes = tuple(sorted(point.attributes.items()))
        series = Series(point.name, point.unit, point.description, attributes)
        name = series.identity
        known = named.setdefault(name, series)
        if series.description < known.description:
            named[name] = series
        values.setdefault(name, {}).setdefault(minute(point.time), []).append(point.value)
    out = []
    for name in sorted(named, key=lambda name: (*named[name][:3], name)):
        series = named[name]
        through = ended(series.key)
        for begin, parts in sorted(values[name].items()):
            start = max(begin, through)
            through = max(begin + MINUTE_NS, start + SHORTEST_NS)
            out.append(Window(series, start, through, fsum(parts)))
    return out
