"""What passes between asz and a receiver: a request of one signal, and one of four answers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, Protocol

from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

LONGEST_MESSAGE: Final = 200
"""Characters of a receiver's own words that are shown."""


class Signal(Enum):
    """What is exported."""

    LOGS = "logs"
    METRICS = "metrics"

    @property
    def path(self) -> str:
        """Where it is posted, below the address of the receiver."""
        return f"/v1/{self.value}"

    @property
    def method(self) -> str:
        """Its gRPC method."""
        word = self.value.capitalize()
        return f"/opentelemetry.proto.collector.{self.value}.v1.{word}Service/Export"


@dataclass(frozen=True, slots=True)
class Taken:
    """The receiver has it; it is not sent again."""

    rejected: int = 0
    """How many records or points of it the receiver did not want."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class TooLarge:
    """More than the receiver takes in one request."""

    message: str


@dataclass(frozen=True, slots=True)
class Later:
    """The receiver takes nothing now."""

    seconds: float | None
    """How long it asks to be left alone; ``None``: it does not say."""
    message: str


Scope = Literal["request", "signal", "receiver"]


@dataclass(frozen=True, slots=True)
class Failed:
    """Not taken; it is sent again in the next pass."""

    message: str
    scope: Scope
    """What the failure is about: whether other requests, or the other signal, may do better."""


Answer = Taken | TooLarge | Later | Failed


class Transport(Protocol):
    """Brings requests to one receiver."""

    def send(self, signal: Signal, body: bytes) -> Answer:
        """Send one encoded request and wait for the answer. It raises nothing a receiver could cause."""

    def close(self) -> None:
        """Let go of connections."""


def _logs(body: bytes) -> Taken:
    success = logs_service_pb2.ExportLogsServiceResponse.FromString(body).partial_success
    return Taken(max(0, success.rejected_log_records), shortened(success.error_message))


def _metrics(body: bytes) -> Taken:
    success = metrics_service_pb2.ExportMetricsServiceResponse.FromString(body).partial_success
    return Taken(max(0, success.rejected_data_points), shortened(success.error_message))


_READ: Final[dict[Signal, Callable[[bytes], Taken]]] = {
    Signal.LOGS: _logs,
    Signal.METRICS: _metrics,
}


def read_response(signal: Signal, body: bytes) -> Taken | None:
    """What an encoded response says; ``None`` when it is not one."""
    try:
        return _READ[signal](body)
    except DecodeError:
        return None


def read_status(body: bytes) -> tuple[str, float | None]:
    """The message of an encoded ``google.rpc.Status``, and the seconds of its ``RetryInfo``; empty and
    ``None`` where it has none or is not one."""
    try:
        status = status_pb2.Status.FromString(body)
    except DecodeError:
        return "", None
    for detail in status.details:
        info = error_details_pb2.RetryInfo()
        if not detail.Is(info.DESCRIPTOR):
            continue
        try:
            detail.Unpack(info)
        except DecodeError:
            continue
        delay = info.retry_delay
        return shortened(status.message), max(0.0, delay.seconds + delay.nanos / 1e9)
    return shortened(status.message), None


def shortened(text: str) -> str:
    """A receiver's words as one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[: LONGEST_MESSAGE - 1]}…"
