"""Measures the OTLP receiver over loopback: requests a second, latency, memory, and what one costs.

    python benchmarks/receiver.py [--connections N] [--requests N] [--seconds N]

``asz collect`` runs in a process of its own with the receiver on, and a storage root in a temporary
directory. Each connection sends its next request when the one before was answered. The yardstick is what the
same export costs in the program that is measured: the OpenTelemetry SDK's encoder and HTTP or gRPC client,
one at a time. A ratio of 1 means that taking a request costs as much CPU as making it.
"""

import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import httpx
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
    OTLPMetricExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
    OTLPMetricExporter as HttpExporter,
)
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData

METHOD = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
TICKS = os.sysconf("SC_CLK_TCK")


def measured(series: int = 40) -> MetricsData:
    """What an exporter has after a minute of work: some dozens of series."""
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    counter = provider.get_meter("bench").create_counter("claude_code.token.usage", "tokens")
    for number in range(series):
        counter.add(number, {"session.id": f"{number:036d}", "model": "claude-opus-5"})
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    return data


@dataclass
class Receiving:
    """The process that receives."""

    pid: int
    port: int
    root: Path

    def cpu(self) -> float:
        """CPU seconds it used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def peak(self) -> float:
        """The most memory it ever had, in MB."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


@contextmanager
def receiving() -> Iterator[Receiving]:
    """A watching ``asz collect`` in an empty home."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as text:
        home = Path(text)
        (home / ".claude" / "projects").mkdir(parents=True)
        entry = f"{{name: claude-code-otlp, listen: '127.0.0.1:{port}'}}"
        (home / "asz.yaml").write_text(f"adapters: [{entry}]\n")
        process = subprocess.Popen(
            [sys.executable, "-m", "asz", "-v", "collect", "--root", str(home / "root")],
            cwd=home,
            env={**os.environ, "HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        try:
            while "receiving" not in process.stderr.readline():
                assert process.poll() is None
            yield Receiving(process.pid, port, home / "root")
        finally:
            process.terminate()
            process.communicate()


@dataclass
class Load:
    """Peers that send one request after the other."""

    body: bytes
    requests: int
    until: float
    latencies: list[float] = field(default_factory=list)

    def peer(self, send: Callable[[bytes], bool]) -> None:
        """One peer; it stops at its count or when the time is over."""
        for _ in range(self.requests):
            began = time.perf_counter()
            if began > self.until:
                return
            assert send(self.body)
            self.latencies.append(time.perf_counter() - began)


def http_peer(port: int, load: Load) -> None:
    """A peer over HTTP, with a connection of its own."""
    headers = {"content-type": "application/x-protobuf"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        load.peer(
            lambda body: (
                client.post("/v1/metrics", content=body, headers=headers).status_code == 200
            )
        )


def grpc_peer(port: int, load: Load) -> None:
    """A peer over gRPC, with a connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options) as channel:
        call = channel.unary_unary(METHOD)
        load.peer(lambda body: call(body, timeout=60) == b"")


def under_load(
    peer: Callable[[int, Load], None], body: bytes, connections: int, requests: int, seconds: float
) -> dict[str, float]:
    """Figures of one protocol."""
    with receiving() as receiver:
        load = Load(body, requests // connections, time.perf_counter() + seconds)
        threads = [
            threading.Thread(target=peer, args=(receiver.port, load)) for _ in range(connections)
        ]
        used, began = receiver.cpu(), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall, used = time.perf_counter() - began, receiver.cpu() - used
        done = len(load.latencies)
        kept = len(list((receiver.root / "_metrics").glob("*-otlp.pb")))
        assert kept == done, f"{kept} kept of {done} answered"
        cuts = statistics.quantiles(load.latencies, n=100)
        return {
            "requests": done,
            "requests_per_second": round(done / wall, 1),
            "p50_ms": round(cuts[49] * 1e3, 2),
            "p99_ms": round(cuts[98] * 1e3, 2),
            "cpu_ms_per_request": round(used / done * 1e3, 3),
            "peak_mb": round(receiver.peak(), 1),
        }


def exporting(protocol: str, data: MetricsData, count: int) -> float:
    """CPU milliseconds that one export costs the program that exports."""
    with receiving() as receiver:
        made = (
            GrpcExporter(endpoint=f"127.0.0.1:{receiver.port}", insecure=True)
            if protocol == "grpc"
            else HttpExporter(endpoint=f"http://127.0.0.1:{receiver.port}/v1/metrics")
        )
        made.export(data)
        before = resource.getrusage(resource.RUSAGE_SELF)
        for _ in range(count):
            made.export(data)
        after = resource.getrusage(resource.RUSAGE_SELF)
        made.shutdown()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used / count * 1e3


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--requests", type=int, default=6400)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    data = measured()
    body = encode_metrics(data).SerializeToString()
    print(f"{len(body)} bytes a request, {args.connections} connections")
    for protocol, peer in (("http", http_peer), ("grpc", grpc_peer)):
        figures = under_load(peer, body, args.connections, args.requests, args.seconds)
        yardstick = exporting(protocol, data, min(300, args.requests))
        figures["sdk_export_cpu_ms"] = round(yardstick, 3)
        figures["ratio_to_sdk_export"] = round(figures["cpu_ms_per_request"] / yardstick, 2)
        print(protocol, json.dumps(figures))


if __name__ == "__main__":
    main()
