"""The three services of OTLP: what each request must be, and what becomes of it."""

import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from asz_claude_code_otlp.refusal import INTERNAL, Refusal, malformed, unavailable
from asz_hookspecs import AdapterError, Busy, Sink, StorageFull

BUSY_SECONDS: Final = 1
FULL_SECONDS: Final = 60
"""When to try again; a full disk is seldom helped within a second."""

log: Final = logging.getLogger(__name__)

Request = ExportMetricsServiceRequest | ExportLogsServiceRequest | ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class Signal:
    """One kind of telemetry."""

    name: Literal["metrics", "logs", "traces"]
    service: str
    """Full name of its gRPC service."""
    request: type[Request]
    answer: bytes
    """The response that says all was taken."""

    @property
    def path(self) -> str:
        """Where it is posted to over HTTP."""
        return f"/v1/{self.name}"

    def check(self, body: bytes) -> None:
        """Make sure that ``body`` is a request of this signal.

        :raises Refusal: it is not.
        """
        try:
            found = self.request.FromString(body)
        except DecodeError as error:
            raise malformed(f"not an {self.request.__name__} in protobuf") from error
        if body and not found.ListFields():
            raise malformed(f"not an {self.request.__name__}: no field of it is known")


_COLLECTOR: Final = "opentelemetry.proto.collector"
METRICS: Final = Signal(
    "metrics",
    f"{_COLLECTOR}.metrics.v1.MetricsService",
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse().SerializeToString(),
)
LOGS: Final = Signal(
    "logs",
    f"{_COLLECTOR}.logs.v1.LogsService",
    ExportLogsServiceRequest,
    ExportLogsServiceResponse().SerializeToString(),
)
TRACES: Final = Signal(
    "traces",
    f"{_COLLECTOR}.trace.v1.TraceService",
    ExportTraceServiceRequest,
    ExportTraceServiceResponse().SerializeToString(),
)
SIGNALS: Final = (METRICS, LOGS, TRACES)


def _internal(error: Exception) -> Refusal:
    """Nothing that sending again would help. Anything but the contract's own error is a defect."""
    message = str(error)
    if not isinstance(error, AdapterError):
        message = f"unexpected {type(error).__name__}"
        log.warning("a request could not be kept: %s: %s", message, error)
    return Refusal(INTERNAL, HTTPStatus.INTERNAL_SERVER_ERROR, message)


async def take(signal: Signal, body: bytes, sink: Sink) -> bytes:
    """Keep metrics, durably; accept and drop the rest.

    :returns: the response, to be sent only now.
    :raises Refusal: malformed, or it cannot be kept now.
    """
    signal.check(body)
    if signal is METRICS and body:
        try:
            await sink.metrics(body)
        except Busy as error:
            raise unavailable(str(error), BUSY_SECONDS) from error
        except StorageFull as error:
            raise unavailable(str(error), FULL_SECONDS) from error
        except Exception as error:
            raise _internal(error) from error
    return signal.answer
