"""Windows as OTLP: ``ExportMetricsServiceRequest`` messages of monotonic delta sums."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_DELTA,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from asz import __version__
from asz.metrics.windows import Window
from asz_hookspecs.metrics import AttributeValue

SCOPE: Final = "asz"
MAX_BYTES: Final = 1 << 20
"""Bytes of points after which a request is cut: receivers refuse messages of over 4 MiB."""


def encode(service_name: str, windows: Sequence[Window]) -> list[bytes]:
    """The requests that carry some windows, in their order. The same windows always give the same bytes.

    :param service_name: ``service.name`` of the resource.
    """
    return [_request(service_name, batch) for batch in _batches(windows)]


def latest_end(body: bytes) -> int:
    """Where the last window of a request ends; 0 when it has none.

    :raises ValueError: ``body`` is no request.
    """
    from google.protobuf.message import DecodeError

    try:
        request = ExportMetricsServiceRequest.FromString(body)
    except DecodeError as error:
        raise ValueError(f"no metrics request: {error}") from error
    return max(
        (
            point.time_unix_nano
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.sum.data_points
        ),
        default=0,
    )


_Placed = tuple[Window, NumberDataPoint]


def _batches(windows: Iterable[Window]) -> Iterator[list[_Placed]]:
    batch: list[_Placed] = []
    size = 0
    for window in windows:
        point = _point(window)
        size += point.ByteSize()
        batch.append((window, point))
        if size >= MAX_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _request(service_name: str, batch: Iterable[_Placed]) -> bytes:
    metrics = [
        Metric(
            name=_text(name),
            unit=_text(unit),
            description=_text(description),
            sum=Sum(
                data_points=[point for _window, point in placed],
                aggregation_temporality=AGGREGATION_TEMPORALITY_DELTA,
                is_monotonic=True,
            ),
        )
        for (name, unit, description), placed in groupby(batch, key=lambda one: one[0].series[:3])
    ]
    scope = ScopeMetrics(
        scope=InstrumentationScope(name=SCOPE, version=__version__), metrics=metrics
    )
    resource = Resource(attributes=[_attribute("service.name", service_name)])
    request = ExportMetricsServiceRequest(
        resource_metrics=[ResourceMetrics(resource=resource, scope_metrics=[scope])]
    )
    return request.SerializeToString(deterministic=True)


def _point(window: Window) -> NumberDataPoint:
    return NumberDataPoint(
        attributes=[_attribute(key, value) for key, value in window.series.attributes],
        start_time_unix_nano=window.start,
        time_unix_nano=window.end,
        as_double=window.value,
    )


def _attribute(key: str, value: AttributeValue) -> KeyValue:
    return KeyValue(key=_text(key), value=_any(value))


def _any(value: AttributeValue) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=_text(value))
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(double_value=value)


def _text(text: str) -> str:
    """A lone surrogate, which UTF-8 cannot say, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
