"""The exporters of the real OpenTelemetry SDK, as a program configures them."""

import logging
from typing import Any

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult, MetricsData
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from .serving import Receiver


def measured() -> MetricsData:
    """What a program that counts tokens hands to its exporter."""
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    counter = provider.get_meter("com.anthropic.claude_code").create_counter(
        "claude_code.token.usage", "tokens", "Number of tokens used"
    )
    for kind, count in (("input", 12.0), ("output", 345.0)):
        counter.add(count, {"session.id": "s", "model": "m", "type": kind})
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    return data


def exporter_of(receiver: Receiver, protocol: str, gzip: bool, kind: str) -> Any:
    if protocol == "grpc":
        compression = grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression
        made = {"metrics": GrpcMetrics, "logs": GrpcLogs, "traces": GrpcSpans}[kind]
        return made(endpoint=receiver.authority, insecure=True, compression=compression)  # type: ignore[operator]
    compressed = Compression.Gzip if gzip else Compression.NoCompression
    found = {"metrics": HttpMetrics, "logs": HttpLogs, "traces": HttpSpans}[kind]
    return found(endpoint=f"{receiver.url}/v1/{kind}", compression=compressed)  # type: ignore[operator]


PROTOCOLS = pytest.mark.parametrize("protocol", ["grpc", "http"])
GZIP = pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gzip"])


@PROTOCOLS
@GZIP
def test_metrics_are_kept_as_they_were_encoded(
    receiver: Receiver, protocol: str, gzip: bool
) -> None:
    data = measured()
    exporter = exporter_of(receiver, protocol, gzip, "metrics")
    for _ in range(3):
        assert exporter.export(data) is MetricExportResult.SUCCESS
    exporter.shutdown()
    encoded = encode_metrics(data)
    assert [ExportMetricsServiceRequest.FromString(body) for body in receiver.sink.bodies] == [
        encoded
    ] * 3
    assert receiver.sink.bodies == [encoded.SerializeToString()] * 3


@PROTOCOLS
@GZIP
def test_traces_are_accepted_and_dropped(receiver: Receiver, protocol: str, gzip: bool) -> None:
    failures: list[str] = []
    logged = _Logged(failures)
    logging.getLogger("opentelemetry").addHandler(logged)
    provider = TracerProvider()
    provider.add_span_processor(
        SimpleSpanProcessor(exporter_of(receiver, protocol, gzip, "traces"))
    )
    with provider.get_tracer("t").start_as_current_span("work"):
        pass
    provider.shutdown()
    logging.getLogger("opentelemetry").removeHandler(logged)
    assert failures == []
    assert receiver.sink.bodies == []


@PROTOCOLS
@GZIP
def test_logs_are_accepted_and_dropped(receiver: Receiver, protocol: str, gzip: bool) -> None:
    failures: list[str] = []
    logged = _Logged(failures)
    logging.getLogger("opentelemetry").addHandler(logged)
    provider = LoggerProvider()
    exporter = exporter_of(receiver, protocol, gzip, "logs")
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    provider.get_logger("l").emit(body="api_request")
    provider.shutdown()
    logging.getLogger("opentelemetry").removeHandler(logged)
    assert failures == []
    assert receiver.sink.bodies == []


class _Logged(logging.Handler):
    """The SDK says that an export failed in its log only."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())
