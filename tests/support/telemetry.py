"""Telemetry as Claude Code's exporter sends it."""

import httpx
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

PROTOBUF = {"content-type": "application/x-protobuf"}


def request(number: int) -> bytes:
    """A metrics request like no other."""
    made = ExportMetricsServiceRequest()
    metric = made.resource_metrics.add().scope_metrics.add().metrics.add()
    metric.name, metric.unit = "claude_code.token.usage", "tokens"
    point = metric.sum.data_points.add()
    point.as_double, point.time_unix_nano = float(number), 1_780_000_000_000_000_000 + number
    return made.SerializeToString()


def post(client: httpx.Client, body: bytes) -> int:
    """The status it is answered with; 0 when there is no answer."""
    try:
        return client.post("/v1/metrics", content=body, headers=PROTOBUF).status_code
    except httpx.TransportError:
        return 0
