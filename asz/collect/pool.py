"""Turns in other processes: a session is the unit of locking, so sessions need nothing from each other."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from asz.collect.turn import take_turn
from asz.collect.work import Assembler, Entries, Limits, LoadEntries, Report, Work
from asz.storage.root import Root
from asz.workers import submit, workers

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Event

REFRESH_SECONDS: Final = 0.2
"""How often the waiting process looks at the counters."""


class Shared:
    """Counters and a stop sign that all workers and the waiting process see."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.records: Synchronized[int] = context.Value("q", 0)
        self.bytes: Synchronized[int] = context.Value("q", 0)
        self.stop: Event = context.Event()

    def advance(self, records: int, size: int) -> None:
        """Count what a worker read."""
        with self.records.get_lock():
            self.records.value += records
        with self.bytes.get_lock():
            self.bytes.value += size

    def stopping(self) -> bool:
        """Whether workers should end after the window at hand."""
        return self.stop.is_set()


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs for any turn; picklable."""

    root: Root
    load: LoadEntries
    limits: Limits
    assembler: Assembler | None


@dataclass(slots=True)
class _Worker:
    job: Job
    entries: Entries
    shared: Shared


_worker: _Worker | None = None


def _start(job: Job, shared: Shared) -> None:
    global _worker  # noqa: PLW0603 - a process of the pool has no other place for it
    _worker = _Worker(job, job.load(), shared)


def _turn(work: Work) -> Report:
    assert _worker is not None
    job = _worker.job
    return take_turn(job.root, work, _worker.entries, job.limits, _worker.shared, job.assembler)


def turns(
    job: Job, works: list[Work], count: int, shared: Shared
) -> Iterator[tuple[Work, Report] | None]:
    """Take turns in ``count`` processes; each as it ends, and ``None`` whenever time has passed.

    A turn whose process dies, or that fails where no error was expected, is a report with an error.
    """
    # Stopped, groups at hand become durable and nothing new is begun.
    with workers(count, _start, (job, shared), stop=shared.stop.set) as pool:
        futures = submit(pool, _turn, works)
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, REFRESH_SECONDS, FIRST_COMPLETED)
            yield None
            for future in done:
                yield futures[future], _outcome(futures[future], future)


def _outcome(work: Work, future: "Future[Report]") -> Report:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "its process was killed; what had landed stays, a later pass goes on"
    except Exception as error:  # a defect costs its session, not the pass
        reason = f"unexpected {type(error).__name__}: {error}"
    report = Report()
    report.counts.sessions, report.counts.sources = 1, len(work.items)
    report.error(f"{work.session}: {reason}")
    return report
