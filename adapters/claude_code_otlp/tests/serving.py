"""A receiver on a port of its own, with a sink of the test's own behind it."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from asz_claude_code_otlp.limits import Patience
from asz_claude_code_otlp.options import Options
from asz_claude_code_otlp.receiver import DEFAULT_PATIENCE, receive

PROTOBUF = {"content-type": "application/x-protobuf"}


@dataclass
class Kept:
    """A sink that keeps requests in memory, and does what it is told meanwhile."""

    bodies: list[bytes] = field(default_factory=list)
    error: Exception | None = None
    """Raised in place of keeping."""
    gate: threading.Event | None = None
    """Waited for before keeping."""
    waiting: threading.Event = field(default_factory=threading.Event)

    async def metrics(self, body: bytes) -> None:
        if self.gate is not None:
            self.waiting.set()
            while not self.gate.is_set():
                await asyncio.sleep(0.005)
        if self.error is not None:
            raise self.error
        self.bodies.append(body)

    async def records(self, session: str, stream: str, kind: str, src: str, lines: object) -> None:
        raise AssertionError("this adapter lands no records")


class Receiver:
    """Serves in a thread until left."""

    def __init__(
        self, host: str = "127.0.0.1", patience: Patience = DEFAULT_PATIENCE, **options: object
    ) -> None:
        self.port = free_port()
        where = f"[{host}]" if ":" in host else host
        self.authority = f"{where}:{self.port}"
        self.url = f"http://{self.authority}"
        self.options = Options.model_validate({"listen": self.authority, **options})
        self.sink = Kept()
        self.patience = patience
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.error: BaseException | None = None

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            try:
                runner.run(self._serve())
            except BaseException as error:  # shown by whoever waits
                self.error = error
            finally:
                self._ready.set()

    async def _serve(self) -> None:
        async with receive(self.options, self.sink, self.patience):
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> "Receiver":
        self._thread.start()
        self._ready.wait()
        if self.error is not None:
            self._thread.join()
            raise self.error
        return self

    def leave(self) -> None:
        """End it; waits until it has."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def __exit__(self, *_exc: object) -> None:
        self.leave()
        if self.error is not None:
            raise self.error

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        """A plain connection."""
        with socket.create_connection((self.options.address.host, self.port), timeout=20) as made:
            yield made


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def request(name: str = "claude_code.token.usage", padding: int = 0) -> bytes:
    """A metrics request."""
    made = ExportMetricsServiceRequest()
    metric = made.resource_metrics.add().scope_metrics.add().metrics.add()
    metric.name, metric.unit, metric.description = name, "tokens", "x" * padding
    point = metric.sum.data_points.add()
    point.as_double, point.time_unix_nano = 7.0, 1_780_000_000_000_000_000
    return made.SerializeToString()


def read_answer(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """One HTTP answer from a plain connection, and nothing after it."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1)
        assert piece, f"closed after {data!r}"
        data += piece
    first, *lines = data[:-4].decode().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
    }
    body = b""
    while len(body) < int(headers["content-length"]):
        body += connection.recv(int(headers["content-length"]) - len(body))
    return int(first.split()[1]), headers, body
