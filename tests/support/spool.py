"""What lies in a root's metrics spool, as points."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from asz.metrics.spool import Spool
from asz.storage.root import Root


class Point(NamedTuple):
    """One point of a derived request."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    start: int
    end: int
    value: float

    def attribute(self, key: str) -> str:
        return dict(self.attributes)[key]


def requests(root: Path) -> list[ExportMetricsServiceRequest]:
    """Every derived request, in the order of its number."""
    spool = Spool(Root(root))
    return [
        ExportMetricsServiceRequest.FromString(spool.read(entry))
        for entry in spool.entries()
        if entry.origin == "derived"
    ]


def points(root: Path) -> list[Point]:
    """Every point of every derived request, in order."""
    return [point for request in requests(root) for point in points_of(request)]


def points_of(request: ExportMetricsServiceRequest) -> Iterator[Point]:
    """The points of one request."""
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.sum.data_points:
                    attributes = sorted((a.key, a.value.string_value) for a in point.attributes)
                    yield Point(
                        metric.name,
                        tuple(attributes),
                        point.start_time_unix_nano,
                        point.time_unix_nano,
                        point.as_double,
                    )


def sums(found: Iterable[Point], *keys: str) -> dict[Any, float]:
    """The points added up by some attributes."""
    out: dict[Any, float] = {}
    for point in found:
        key = tuple(point.attribute(name) for name in keys)
        out[key] = out.get(key, 0.0) + point.value
    return out


def never_overlap(found: Iterable[Point]) -> bool:
    """Whether the windows of each series ascend, none over another."""
    ends: dict[Any, int] = {}
    for point in found:
        series = (point.name, point.attributes)
        if point.start < ends.get(series, 0) or point.end <= point.start:
            return False
        ends[series] = point.end
    return True
