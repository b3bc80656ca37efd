"""OTLP receivers for tests: one on grpcio, one on an ASGI server. They share nothing with asz, keep every
request as it came, and answer as they are told."""

import hashlib
import socket
import threading
from collections import deque
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import grpc
import uvicorn
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

Signal = Literal["logs", "metrics"]


@dataclass(frozen=True)
class Reply:
    """How a receiver answers one request; each protocol says it its own way."""

    kind: Literal["taken", "large", "later", "wrong", "down", "unknown"] = "taken"
    rejected: int = 0
    message: str = ""
    seconds: float | None = None
    """Of ``later``: what the client is asked to wait."""


@dataclass
class Request:
    """One request as it came."""

    signal: Signal
    body: bytes
    headers: dict[str, str]
    reply: Reply


@dataclass
class Inbox:
    """What a receiver was sent, and how it answers."""

    requests: list[Request] = field(default_factory=list)
    replies: deque[Reply] = field(default_factory=deque)
    """Answers to the next requests, before ``limit`` is looked at."""
    limit: int = 1 << 40
    """Bytes of a request above which it is too large."""
    silent: bool = False
    """Whether it does not answer before the test is over."""
    over: threading.Event = field(default_factory=threading.Event)

    def put(self, signal: Signal, body: bytes, headers: dict[str, str]) -> Reply:
        reply = Reply()
        if self.replies:
            reply = self.replies.popleft()
        elif len(body) > self.limit:
            reply = Reply("large", message="too large a request")
        self.requests.append(Request(signal, body, headers, reply))
        if self.silent:
            self.over.wait(20)
        return reply

    def taken(self, signal: Signal) -> list[bytes]:
        """Bodies that were taken, in order."""
        return [r.body for r in self.requests if r.signal == signal and r.reply.kind == "taken"]

    def received(self) -> list["Received"]:
        """Every log record that was taken, in order."""
        return [record for body in self.taken("logs") for record in records(body)]

    def paths(self) -> list[str]:
        """The file each record that was taken stands for, in order."""
        return [str(record.attributes["asz.file"]) for record in self.received()]

    def write_back(self, root: Path) -> None:
        """Put every file back where it was."""
        for record in self.received():
            path = root / str(record.attributes["asz.file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(record.body.encode())


@dataclass(frozen=True)
class Received:
    """One log record, taken apart."""

    resource: dict[str, str | int]
    scope: tuple[str, str]
    record: LogRecord

    @property
    def attributes(self) -> dict[str, str | int]:
        return plain(self.record.attributes)

    @property
    def body(self) -> str:
        return self.record.body.string_value

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body.encode()).hexdigest()


def records(body: bytes) -> Iterator[Received]:
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                yield Received(
                    plain(resource.resource.attributes),
                    (scope.scope.name, scope.scope.version),
                    record,
                )


def plain(attributes: Any) -> dict[str, str | int]:
    """Attributes as a dict; a key that is there twice, or a value of another type, is an error."""
    found: dict[str, str | int] = {}
    attribute: KeyValue
    for attribute in attributes:
        assert attribute.key not in found
        kind = attribute.value.WhichOneof("value")
        assert kind in ("string_value", "int_value"), attribute
        found[attribute.key] = getattr(attribute.value, kind)
    return found


def _response(signal: Signal, reply: Reply) -> bytes:
    if not reply.rejected and not reply.message:
        return b""
    if signal == "logs":
        logs = ExportLogsPartialSuccess(
            rejected_log_records=reply.rejected, error_message=reply.message
        )
        return ExportLogsServiceResponse(partial_success=logs).SerializeToString()
    metrics = ExportMetricsPartialSuccess(
        rejected_data_points=reply.rejected, error_message=reply.message
    )
    return ExportMetricsServiceResponse(partial_success=metrics).SerializeToString()


class Receiver(Protocol):
    """A receiver that listens."""

    inbox: Inbox
    endpoint: str
    protocol: str


@dataclass
class Listening:
    """Where one listens."""

    inbox: Inbox
    endpoint: str
    protocol: str


# ---------------------------------------------------------------- gRPC

_CODES = {
    "large": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "later": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "wrong": grpc.StatusCode.INVALID_ARGUMENT,
    "down": grpc.StatusCode.UNAVAILABLE,
    "unknown": grpc.StatusCode.UNIMPLEMENTED,
}


class _Service(grpc.GenericRpcHandler):
    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def service(self, details: Any) -> Any:
        words = {"LogsService": "logs", "MetricsService": "metrics"}
        for word, signal in words.items():
            if details.method == f"/opentelemetry.proto.collector.{signal}.v1.{word}/Export":
                return grpc.unary_unary_rpc_method_handler(self._answer(signal))
        return None

    def _answer(self, signal: Any) -> Any:
        def answer(body: bytes, context: Any) -> bytes:
            headers = {k: v for k, v in context.invocation_metadata() if isinstance(v, str)}
            reply = self._inbox.put(signal, body, headers)
            if reply.kind == "taken":
                return _response(signal, reply)
            if reply.kind == "later" and reply.seconds is not None:
                whole = int(reply.seconds)
                delay = Duration(seconds=whole, nanos=int((reply.seconds - whole) * 1e9))
                detail = AnyMessage()
                detail.Pack(RetryInfo(retry_delay=delay))
                status = Status(code=8, message=reply.message, details=[detail])
                pair = ("grpc-status-details-bin", status.SerializeToString())
                context.set_trailing_metadata((pair,))
            context.abort(_CODES[reply.kind], reply.message or reply.kind)
            raise AssertionError("abort raises")

        return answer


@contextmanager
def grpc_receiver(
    credentials: grpc.ServerCredentials | None = None, largest: int = -1
) -> Iterator[Listening]:
    """A receiver over gRPC.

    :param largest: bytes of a message after which grpcio itself refuses it.
    """
    inbox = Inbox()
    server = grpc.server(
        futures.ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", largest)]
    )
    server.add_generic_rpc_handlers((_Service(inbox),))
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield Listening(inbox, f"127.0.0.1:{port}", "grpc")
    finally:
        inbox.over.set()
        server.stop(None).wait()


# ---------------------------------------------------------------- HTTP

_STATUSES = {"large": 413, "later": 429, "wrong": 400, "down": 503, "unknown": 404}
_PROTOBUF = b"application/x-protobuf"


@dataclass(frozen=True)
class Page:
    """An answer of something that is no OTLP receiver."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""


class _App:
    def __init__(self, inbox: Inbox, pages: deque[Page]) -> None:
        self._inbox, self._pages = inbox, pages

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        page = self._answer(scope["path"], body, headers)
        length = (b"content-length", b"%d" % len(page.body))
        start = {"type": "http.response.start", "status": page.status}
        await send({**start, "headers": [*page.headers, length]})
        await send({"type": "http.response.body", "body": page.body})

    def _answer(self, path: str, body: bytes, headers: dict[str, str]) -> Page:
        signal = path.rpartition("/v1/")[2]
        assert headers["content-type"] == _PROTOBUF.decode()
        if signal not in ("logs", "metrics"):
            return Page(404)
        reply = self._inbox.put("logs" if signal == "logs" else "metrics", body, headers)
        self._inbox.requests[-1].headers[":path"] = path
        if self._pages:
            return self._pages.popleft()
        typed = ((b"content-type", _PROTOBUF),)
        if reply.kind == "taken":
            answer = _response("logs" if signal == "logs" else "metrics", reply)
            return Page(200, typed, answer)
        if reply.seconds is not None:
            typed = (*typed, (b"retry-after", b"%d" % reply.seconds))
        status = Status(message=reply.message).SerializeToString()
        return Page(_STATUSES[reply.kind], typed, status)


@contextmanager
def http_receiver(pages: deque[Page] | None = None, **options: Any) -> Iterator[Listening]:
    """A receiver over HTTP.

    :param pages: answers to give in place of those of a receiver.
    :param options: uvicorn's, for TLS.
    """
    inbox = Inbox()
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        _App(inbox, pages if pages is not None else deque()),
        lifespan="off",
        ws="none",
        log_config=None,
        timeout_graceful_shutdown=1,
        **options,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    scheme = "https" if "ssl_certfile" in options else "http"
    try:
        yield Listening(inbox, f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", "http")
    finally:
        inbox.over.set()
        server.should_exit = True
        thread.join()
        listener.close()
