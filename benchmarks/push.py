"""Measures pushing beside a plain gRPC client that sends the very same requests, and prints the ratio.

    python benchmarks/push.py ROOT [--runs N]

``ROOT`` is a storage root; what it was sent is forgotten. The receiver runs in a process of its own and
throws away what it gets. Every figure is the median of ``--runs`` runs, taken by turns.
"""

import argparse
import multiprocessing
import resource
import shutil
import statistics
import struct
import tempfile
import time
from collections.abc import Iterator
from concurrent import futures
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

LENGTH = struct.Struct("<Q")
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"


def serve(pipe: Connection, record: Path | None) -> None:
    """Receive until told to end; with ``record`` keep the requests in a file."""
    import grpc

    handle = record.open("wb") if record is not None else None

    def answer(body: bytes, _context: Any) -> bytes:
        if handle is not None:
            handle.write(LENGTH.pack(len(body)) + body)
        return b""

    class Service(grpc.GenericRpcHandler):
        def service(self, _details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(
        futures.ThreadPoolExecutor(2), options=[("grpc.max_receive_message_length", -1)]
    )
    server.add_generic_rpc_handlers((Service(),))
    pipe.send(server.add_insecure_port("127.0.0.1:0"))
    server.start()
    pipe.recv()
    server.stop(None).wait()
    if handle is not None:
        handle.close()


class Server:
    """The receiver's process."""

    def __init__(self, record: Path | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=serve, args=(other, record))

    def __enter__(self) -> str:
        self._process.start()
        return f"127.0.0.1:{self._pipe.recv()}"

    def __exit__(self, *_exc: object) -> None:
        self._pipe.send(None)
        self._process.join()


def push(root: Path, endpoint: str) -> tuple[float, float, int]:
    """One pass over everything: wall and CPU seconds, and bytes of files."""
    from asz.config import Otlp
    from asz.export.endpoint import receiver_of
    from asz.export.push import Pusher
    from asz.storage.root import Root

    shutil.rmtree(root / "_export", ignore_errors=True)
    otlp = Otlp(endpoint=endpoint, metrics=False)
    receiver = receiver_of(otlp, lambda _key: "default")
    pusher = Pusher(Root.open(root, write=True), otlp, receiver, dict)
    began, cpu = time.perf_counter(), time.process_time()
    made = pusher.run()
    assert made.clean, made.problems
    return time.perf_counter() - began, time.process_time() - cpu, made.counts.bytes


def bodies(recorded: Path) -> Iterator[bytes]:
    with recorded.open("rb") as handle:
        while head := handle.read(LENGTH.size):
            yield handle.read(LENGTH.unpack(head)[0])


def plain(recorded: Path, endpoint: str) -> tuple[float, float]:
    """The same requests from a client that does nothing else: wall and CPU seconds."""
    import grpc

    began, cpu = time.perf_counter(), time.process_time()
    with grpc.insecure_channel(endpoint) as channel:
        call = channel.unary_unary(LOGS)
        for body in bodies(recorded):
            call(body, timeout=60)
    return time.perf_counter() - began, time.process_time() - cpu


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        recorded = Path(home) / "requests"
        with Server(recorded) as endpoint:
            push(args.root, endpoint)
        pushed, sent = [], []
        with Server() as endpoint:
            for _ in range(args.runs):
                pushed.append(push(args.root, endpoint))
                sent.append(plain(recorded, endpoint))
        size = pushed[0][2]
        wall, cpu = (statistics.median(run[at] for run in pushed) for at in (0, 1))
        bare_wall, bare_cpu = (statistics.median(run[at] for run in sent) for at in (0, 1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size / 1e6:.0f} MB of landed files and rounds")
    print(f"plain gRPC client: {size / bare_wall / 1e6:6.0f} MB/s   cpu {bare_cpu:5.2f} s")
    print(
        f"asz push:          {size / wall / 1e6:6.0f} MB/s   cpu {cpu:5.2f} s   "
        f"wall {wall / bare_wall:.2f}x   peak {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()
