"""Pushing a root of a test's own, through the real command line or pass by pass with a clock that does not
wait."""

import contextlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from asz.cli import main
from asz.config import Otlp
from asz.export.counting import Pass
from asz.export.endpoint import receiver_of
from asz.export.push import Pusher
from asz.metrics.spool import Spool
from asz.storage.root import Root

from .otlp import Listening
from .pipeline import Outcome


@dataclass
class Place:
    """A home with a root in it."""

    home: Path

    @property
    def root(self) -> Path:
        return self.home / "root"

    def files(self) -> list[str]:
        """Every landed file and round, below the root."""
        found = [*self.root.glob("*/*/*/*.sd"), *self.root.glob("_conversations/*/rounds/*.sf")]
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def asz(self, *args: str, otlp: Mapping[str, Any] | None = None) -> Outcome:
        """Run a command with this root and no adapters but the shipped ones."""
        config = self.home / "asz.yaml"
        config.write_text(json.dumps({"export": {"otlp": dict(otlp or {})}}))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([*args, "--root", str(self.root), "--config", str(config)])
        return Outcome(status, out.getvalue(), err.getvalue())

    def push(self, receiver: Listening, *args: str, **otlp: Any) -> Outcome:
        """``asz push --once`` to a receiver."""
        named = {"endpoint": receiver.endpoint, "protocol": receiver.protocol}
        return self.asz("push", "--once", *args, otlp={**named, **otlp})


@dataclass
class FakeClock:
    """Time goes on by what is slept."""

    seconds: float = 1_800_000_000.0
    slept: list[float] = field(default_factory=list)

    def now_ns(self) -> int:
        return int(self.seconds * 1e9)

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


def pusher(place: Place, listening: Listening, clock: FakeClock, **otlp: Any) -> Pusher:
    """What runs passes from a place to a receiver."""
    settings = Otlp(
        **{"endpoint": listening.endpoint, "protocol": listening.protocol, "timeout": 20, **otlp}
    )
    receiver = receiver_of(settings, lambda _key: "default")
    root = Root.open(place.root, write=True)
    return Pusher(root, settings, receiver, lambda: {"claude-code": "Claude Code"}, clock)


def counted(made: Pass) -> dict[str, float]:
    """The numbers of a pass that are not zero, without its duration and sizes."""
    left_out = ("seconds", "bytes")
    return {key: n for key, n in made.numbers().items() if n and key not in left_out}


def spool_request(root: Path, seq: int, service: str = "claude-code") -> Path:
    """Put a metrics request of a runtime's own exporter into the spool."""
    text = {"service.name": service, "service.version": "2.1.245", "host.arch": "arm64"}
    attributes = [KeyValue(key=k, value=AnyValue(string_value=v)) for k, v in text.items()]
    point = NumberDataPoint(
        start_time_unix_nano=seq * 60 * 10**9,
        time_unix_nano=(seq + 1) * 60 * 10**9,
        as_double=float(seq),
        attributes=[KeyValue(key="type", value=AnyValue(string_value="input"))],
    )
    metric = Metric(
        name="claude_code.token.usage",
        unit="tokens",
        sum=Sum(data_points=[point], aggregation_temporality=1, is_monotonic=True),
    )
    resource = ResourceMetrics(
        resource=Resource(attributes=attributes, dropped_attributes_count=2),
        scope_metrics=[ScopeMetrics(metrics=[metric])],
    )
    body = ExportMetricsServiceRequest(resource_metrics=[resource, resource]).SerializeToString()
    spool = Spool(Root(root))
    (entry,) = spool.add_all(seq, [body], "otlp")
    return spool.path(entry)
