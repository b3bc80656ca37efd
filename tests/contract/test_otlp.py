"""The receiver for Claude Code's exporter, through the real command and the real exporters."""

import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
    OTLPMetricExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
    OTLPMetricExporter as HttpExporter,
)
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult, MetricsData

from asz.metrics.spool import Spool
from asz.storage.root import Root

from ..support.telemetry import post, request
from ..support.watching import free_port, watching

SERVING = "asz: claude-code-otlp: receiving"


@pytest.fixture
def port() -> int:
    return free_port()


def configured(home: Path, port: int, more: str = "") -> None:
    text = f"adapters:\n  - {{name: claude-code-otlp, listen: '127.0.0.1:{port}'{more}}}\n"
    (home / "asz.yaml").write_text(text)


def kept(root: Path) -> list[bytes]:
    spool = Spool(Root.open(root, write=False))
    return [spool.read(entry) for entry in spool.entries()]


def measured() -> MetricsData:
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    provider.get_meter("m").create_counter("claude_code.cost.usage", "USD").add(0.25)
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    return data


def test_both_protocols_arrive_in_the_spool(tmp_path: Path, port: int) -> None:
    configured(tmp_path, port)
    data = measured()
    with watching(tmp_path) as collector:
        assert collector.until(SERVING) == SERVING
        grpc = GrpcExporter(endpoint=f"127.0.0.1:{port}", insecure=True)
        http = HttpExporter(endpoint=f"http://127.0.0.1:{port}/v1/metrics")
        for exporter in (grpc, http):
            assert exporter.export(data) is MetricExportResult.SUCCESS
            exporter.shutdown()
        assert kept(collector.root) == [encode_metrics(data).SerializeToString()] * 2
        assert collector.stop() == 130
    entries = Spool(Root.open(collector.root, write=False)).entries()
    assert [(entry.seq, entry.origin) for entry in entries] == [(1, "otlp"), (2, "otlp")]


def test_it_is_off_until_asz_yaml_enables_it(asz: Any) -> None:
    listed = {row.split()[0]: row for row in asz("adapters").stdout.splitlines()}
    assert " disabled " in listed["claude-code-otlp"]
    asz.config("adapters: [{name: claude-code-otlp}]\n")
    listed = {row.split()[0]: row for row in asz("adapters").stdout.splitlines()}
    assert " ok " in listed["claude-code-otlp"]


def test_with_its_metrics_off_it_takes_them_and_keeps_none(tmp_path: Path, port: int) -> None:
    configured(tmp_path, port, ", metrics: false")
    with watching(tmp_path) as collector:
        assert collector.until(SERVING).endswith(
            "its metrics are off, so those it receives are dropped"
        )
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            assert post(client, request(1)) == 200
        assert collector.stop() == 130
    assert kept(collector.root) == []


@pytest.mark.parametrize(
    "only", [(), ("--adapter", "claude-code"), ("--adapter", "claude-code-otlp")]
)
def test_metrics_of_both_adapters_would_count_twice(asz: Any, only: tuple[str, ...]) -> None:
    """Also in two commands, each with one of them."""
    asz.config("adapters:\n  - {name: claude-code-otlp}\n  - {name: claude-code, metrics: true}\n")
    done = asz("collect", "--once", *only)
    assert done.returncode == 2
    assert "one count would be sent twice" in done.stderr


@pytest.mark.parametrize("command", [("collect", "--once"), ("push", "--once")])
def test_asz_does_not_send_to_itself(asz: Any, command: tuple[str, ...]) -> None:
    asz("collect", "--sample", "--root", str(asz.root))
    asz.config(
        "adapters: [{name: claude-code-otlp, enabled: true, metrics: false}]\n"
        "export: {otlp: {endpoint: 'localhost:4317'}}\n"
    )
    done = asz(*command)
    assert done.returncode == 2
    assert (
        "asz.yaml:2: export.otlp.endpoint: expected a receiver other than asz's own" in done.stderr
    )


def test_a_port_that_is_taken_costs_one_line(tmp_path: Path, port: int) -> None:
    configured(tmp_path, port)
    with socket.create_server(("127.0.0.1", port)), watching(tmp_path) as collector:
        line = collector.until("asz: error")
        assert "adapter claude-code-otlp" in line
        assert f"listen: 127.0.0.1:{port}: in use by another process" in line
        assert " errors=0 " in collector.until_passed()
        assert collector.stop() == 130
    assert [one for one in collector.err if one.startswith("asz: error")] == [line]


def test_another_collector_of_the_root_puts_its_peers_off(tmp_path: Path, port: int) -> None:
    other = free_port()
    configured(tmp_path, port)
    with watching(tmp_path) as first:
        first.until(SERVING)
        configured(tmp_path, other)
        with (
            watching(tmp_path) as second,
            httpx.Client(base_url=f"http://127.0.0.1:{port}") as one,
            httpx.Client(base_url=f"http://127.0.0.1:{other}") as two,
        ):
            second.until(SERVING)
            assert post(one, request(1)) == 200
            assert post(two, request(2)) == 503
            assert first.stop() == 130
            assert post(two, request(2)) == 200
            assert second.stop() == 130
    assert kept(first.root) == [request(1), request(2)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            "listen: '0.0.0.0:4317'",
            "asz.yaml:1: claude-code-otlp.listen: expected a loopback address, or allow_remote: true",
        ),
        ("listen: '4317'", "claude-code-otlp.listen: expected an address and a port, such as"),
        ("port: 4317", "claude-code-otlp.port: unknown key, expected one of: allow_remote, listen"),
    ],
)
def test_a_wrong_option_is_named(asz: Any, options: str, says: str) -> None:
    asz.config(f"adapters: [{{name: claude-code-otlp, {options}}}]\n")
    done = asz("collect", "--once")
    assert done.returncode == 2
    assert says in done.stderr


def test_listening_for_other_machines_is_warned_about(tmp_path: Path, port: int) -> None:
    text = f"{{name: claude-code-otlp, listen: '0.0.0.0:{port}', allow_remote: true}}"
    (tmp_path / "asz.yaml").write_text(f"adapters: [{text}]\n")
    with watching(tmp_path) as collector:
        line = collector.until("asz: warning: ")
        assert f"0.0.0.0:{port}: other machines can reach this" in line
        assert collector.stop() == 130
