"""One pass over everything: plan it, take the turns, in several processes when there is enough to do."""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Final, Protocol

from asz.collect.planning import Plan, plan
from asz.collect.turn import take_turn
from asz.collect.work import Assembler, Counts, Entries, Limits, LoadEntries, Report, Work
from asz.storage.landed import landed_bytes
from asz.storage.root import Root

POOL_BYTES: Final = 16 << 20
"""Unread bytes from which starting processes pays."""

BATCH: Final = 32
"""Sessions assembled between two looks at the clock, when a pass has a deadline."""


class Display(Protocol):
    """Shows how far a pass is."""

    def start(self, sessions: int, size: int) -> None:
        """So many turns, so many bytes to read."""

    def update(self, sessions: int, records: int, size: int) -> None:
        """What is done so far."""


class Stage(Protocol):
    """What a pass does once all its turns are taken. It raises nothing; what went wrong is in the report."""

    def run(self, report: Report) -> None:
        """Do it, and add to the report of the pass."""


class _Nothing:
    def start(self, sessions: int, size: int) -> None:
        pass

    def update(self, sessions: int, records: int, size: int) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Collector:
    """Runs passes over one storage root."""

    root: Root
    entries: Entries
    load: LoadEntries
    """Makes ``entries`` again in another process."""
    limits: Limits
    assembler: Assembler | None
    """Assembles each session after it landed; ``None``: land and index only."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    stages: tuple[Stage, ...] = ()
    """What comes after the turns, in this order."""

    def run(self, display: Display | None = None, deadline: float | None = None) -> "Pass":
        """One pass. It never stops for one session; what was left is in its report.

        :param deadline: moment of the monotonic clock after which no further session is assembled that has
            nothing new to land; what is left then is a later pass's.
        :raises KeyboardInterrupt: after what was being written became durable.
        """
        display = display or _Nothing()
        began = time.monotonic()
        made = plan(self.root, self.entries)
        behind = self._behind(made)
        works = made.work + behind
        report = made.report
        display.start(len(works), sum(work.size for work in works))
        done = 0
        for some in [works] if deadline is None else [made.work, *_batches(behind)]:
            late = deadline is not None and time.monotonic() >= deadline
            if late and done >= len(made.work):
                report.notes.append(
                    f"{len(works) - done} conversations are assembled in later passes"
                )
                break
            for _work, outcome in self._turns(some, display):
                done += 1
                report.add(outcome)
                display.update(done, report.counts.records, report.counts.bytes)
        report.counts.skipped = made.report.counts.skipped
        made.memory.save()
        for stage in self.stages:
            stage.run(report)
        return Pass(report, made.roots, time.monotonic() - began)

    def _behind(self, made: Plan) -> list[Work]:
        """Sessions with nothing to land whose chains are behind what landed."""
        assembler = self.assembler
        if assembler is None:
            return []
        works = []
        for name in made.to_parse:
            standing = made.memory.of(name)
            mark = assembler.mark(self.root, name)
            if standing.chain == mark:
                continue
            if assembler.behind(self.root, name):
                works.append(Work(name, (), {}, landed_bytes(self.root.session_dir(name))))
            else:
                standing.chain = mark
        return works

    def _turns(self, works: list[Work], display: Display) -> Iterator[tuple[Work, Report]]:
        workers = min(self.workers, len(works))
        if workers < 2 or sum(work.size for work in works) < POOL_BYTES:
            progress = _Here(display)
            for work in works:
                yield (
                    work,
                    take_turn(self.root, work, self.entries, self.limits, progress, self.assembler),
                )
                progress.sessions += 1
            return
        from asz.collect.pool import Job, Shared, turns  # most passes need no other process

        shared = Shared()
        done = 0
        job = Job(self.root, self.load, self.limits, self.assembler)
        for outcome in turns(job, works, workers, shared):
            if outcome is None:
                display.update(done, shared.records.value, shared.bytes.value)
            else:
                done += 1
                yield outcome


def _batches(works: list[Work]) -> Iterator[list[Work]]:
    for start in range(0, len(works), BATCH):
        yield works[start : start + BATCH]


class _Here:
    """Progress of turns taken in this process."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self.sessions = 0
        self._records = 0
        self._bytes = 0

    def advance(self, records: int, size: int) -> None:
        self._records += records
        self._bytes += size
        self._display.update(self.sessions, self._records, self._bytes)

    def stopping(self) -> bool:
        return False  # an interrupt arrives as an exception here


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass did."""

    report: Report
    roots: tuple[str, ...]
    """Directories that were looked at."""
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether nothing was left: what decides the exit status."""
        counts = self.report.counts
        return not (
            self.report.problems
            or counts.errors
            or counts.conflicts
            or counts.busy
            or counts.pending
        )

    def numbers(self) -> dict[str, int | float]:
        """The numbers of the pass line, sizes in bytes, and the rounds that were written."""
        report = self.report
        return {
            **asdict(report.counts),
            "rounds": report.rounds,
            "renewed": report.renewed,
            "seconds": round(self.seconds, 3),
        }

    def line(self) -> str:
        """The pass line, without its time of day."""
        parts = []
        for name in Counts.__slots__:
            value = getattr(self.report.counts, name)
            if name == "copies" and not value:
                continue  # most people have none
            parts.append(f"{name}={human_bytes(value) if name == 'bytes' else value}")
        return f"{' '.join(parts)} ({self.seconds:.1f}s)"


def human_bytes(size: int) -> str:
    """A size for a person, in powers of 1000."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f}{unit}" if unit == "B" else f"{value:.1f}{unit}"
        value /= 1000
    return f"{value:.1f}GB"
