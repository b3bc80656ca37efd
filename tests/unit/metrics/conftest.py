"""A root in which a test lands what it likes, and derives."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from asz.errors import AdapterFailure
from asz.metrics.derive import Derived, Deriver, Meter
from asz.metrics.waiting import Patience
from asz.storage.root import Root
from asz_claude_code.metrics import derive
from asz_hookspecs import FinishedCall, MetricPoint, Record, Usage

from ...support.landed import Landing
from ...support.spool import Point, points

SECOND = 1_000_000_000
NOW = 1_788_255_000 * SECOND
"""2026-09-01T09:30:00Z."""


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Place:
    """A root, and a derivation that a test turns its way."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = NOW
        self.lookback = 86_400
        self.clock = Clock()
        self.patience: Patience | None = None
        self.fails = False
        self.handed: list[FinishedCall] = []
        self.sent: set[str] = set()
        self.landings: dict[str, Landing] = {}
        Root.open(root, write=True).make()

    def land(self, *records: Record, session: str = "s1", stream: str = "main") -> None:
        """One more landed file."""
        if session not in self.landings:
            self.landings[session] = Landing(self.root, session)
        self.landings[session].write(records, stream=stream)
        self.landings[session].index()

    def derive(self, *, whole: bool = True, runtime: str = "Test") -> Derived:
        meter = Meter(runtime, "claude-code", self.lookback, self._points)
        root = Root.open(self.root, write=True)
        deriver = Deriver(root, [meter], self._sent, self.patience, lambda: self.now)
        return deriver.run(whole=whole)

    def _points(self, calls: Sequence[FinishedCall]) -> Sequence[MetricPoint]:
        if self.fails:
            raise AdapterFailure("test", "test", "1", "asz_derive_metrics", "does not feel like it")
        self.handed += calls
        return tuple(derive(calls))

    def _sent(self) -> set[str]:
        return self.sent

    @property
    def points(self) -> list[Point]:
        return points(self.root)

    @property
    def output(self) -> list[float]:
        """The output tokens of each window."""
        return [point.value for point in self.points if point.attribute("type") == "output"]

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in (self.root / "_metrics").glob("metrics-*.pb"))


def fragment(
    call: str,
    output: int,
    *,
    at: str = "09:29:10",
    id_: str | None = None,
    finished: bool = True,
    model: str | None = "opus",
    flags: tuple[str, ...] = (),
) -> Record:
    """A fragment of a provider call.

    :param at: time of day, of 2026-09-01; with a date before it, of that day; empty for none.
    """
    time = (at if "T" in at else f"2026-09-01T{at}") + "Z" if at else None
    return Record(
        id=id_,
        call=call,
        from_="agent",
        time=time,
        model=model,
        usage=Usage(1, output, 3, 4),
        flags=(*(("finished",) if finished else ()), *flags),
    )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "root")
