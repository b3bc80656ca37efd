"""Requests have the form in which the OpenTelemetry SDK exports the same instrument."""

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk.metrics import Counter, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
from opentelemetry.sdk.resources import Resource

from asz import __version__
from asz.metrics import requests
from asz.metrics.windows import MINUTE_NS, Series, Window, cut
from asz_claude_code.metrics import derive
from asz_hookspecs import FinishedCall, MetricPoint, Usage

from ...support.spool import points_of

START = 1_780_000_020_000_000_000


def call(**changes: object) -> FinishedCall:
    fields: dict[str, object] = {
        "session": "4be1a7c2-9d3f-4e58-8a06-1f5c7d2e9b34",
        "stream": "main",
        "role": "main",
        "call": "msg_1",
        "model": "claude-opus-5",
        "usage": Usage(3, 159, 0, 2048),
        "time": START + 1,
    }
    return FinishedCall(**{**fields, **changes})  # type: ignore[arg-type]


def encoded(points: list[MetricPoint]) -> list[ExportMetricsServiceRequest]:
    bodies = requests.encode("claude-code", cut(points, lambda _series: 0))
    return [ExportMetricsServiceRequest.FromString(body) for body in bodies]


def exported(points: list[MetricPoint]) -> ExportMetricsServiceRequest:
    """What the SDK sends when a runtime counts the same."""
    reader = InMemoryMetricReader(preferred_temporality={Counter: AggregationTemporality.DELTA})
    provider = MeterProvider([reader], Resource({"service.name": "claude-code"}))
    counter = provider.get_meter("asz", __version__).create_counter(
        "claude_code.token.usage", "tokens", "Number of tokens used"
    )
    for point in points:
        counter.add(point.value, dict(point.attributes))
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    return encode_metrics(data)


def shape(request: ExportMetricsServiceRequest) -> object:
    """Everything of a request but its times and the order of attributes and points."""
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.sum.data_points:
                    assert point.start_time_unix_nano
                    assert point.time_unix_nano
                    point.ClearField("start_time_unix_nano")
                    point.ClearField("time_unix_nano")
                    attributes = sorted(point.attributes, key=lambda one: one.key)
                    del point.attributes[:]
                    point.attributes.extend(attributes)
                metric.sum.data_points.sort(key=lambda point: point.SerializeToString())
    return MessageToDict(request)


def test_a_request_is_what_the_sdk_exports() -> None:
    calls = [call(), call(call="msg_2", role="child", stream="a1"), call(call="msg_3", model="x")]
    points = list(derive(calls))
    (request,) = encoded(points)
    assert shape(request) == shape(exported(points))


def test_the_same_windows_give_the_same_bytes() -> None:
    windows = cut(derive([call(), call(call="msg_2", role="auxiliary")]), lambda _series: 0)
    assert requests.encode("x", windows) == requests.encode("x", list(windows))
    again = cut(derive([call(call="msg_2", role="auxiliary"), call()]), lambda _series: 0)
    assert requests.encode("x", windows) == requests.encode("x", again)


def test_many_points_are_cut_into_requests_that_receivers_take() -> None:
    calls = [call(call=f"msg_{n}", time=START + n * MINUTE_NS) for n in range(2000)]
    bodies = requests.encode("claude-code", cut(derive(calls), lambda _series: 0))
    assert len(bodies) > 1
    assert all(len(body) < 2 * requests.MAX_BYTES for body in bodies)
    found = [p for b in bodies for p in points_of(ExportMetricsServiceRequest.FromString(b))]
    assert len(found) == 4 * len(calls)
    assert sum(point.value for point in found) == len(calls) * (3 + 159 + 2048)


def test_every_plain_value_of_an_attribute_is_carried() -> None:
    values = {"a": "text", "b": True, "c": -(2**63), "d": 1.5, "e": "\ud800"}
    (body,) = requests.encode("s", [Window(Series("m", "", "", tuple(values.items())), 1, 2, 3.0)])
    request = ExportMetricsServiceRequest.FromString(body)
    (point,) = request.resource_metrics[0].scope_metrics[0].metrics[0].sum.data_points
    assert [MessageToDict(one.value) for one in point.attributes] == [
        {"stringValue": "text"},
        {"boolValue": True},
        {"intValue": str(-(2**63))},
        {"doubleValue": 1.5},
        {"stringValue": "?"},
    ]


def test_nothing_is_no_request() -> None:
    assert requests.encode("claude-code", []) == []
