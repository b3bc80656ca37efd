"""Parsing many sessions, in several processes when there is enough to do."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Final

from asz.errors import AszError
from asz.flow.parse import Parsed, parse
from asz.storage.landed import landed_bytes
from asz.storage.root import Root
from asz.workers import submit, workers

POOL_BYTES: Final = 64 << 20
"""Landed bytes from which starting processes pays."""

Outcome = Parsed | Exception
"""What a parse did, or why it could not."""


@dataclass(frozen=True, slots=True)
class Job:
    """How each session is parsed; picklable."""

    root: Root
    max_round_bytes: int
    rebuild: bool

    def run(self, session: str) -> Outcome:
        """Parse one session."""
        try:
            return parse(
                self.root, session, max_round_bytes=self.max_round_bytes, rebuild=self.rebuild
            )
        except (AszError, OSError, sqlite3.Error) as error:
            return error


def parse_many(job: Job, sessions: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
    """Parse sessions; each outcome in the order given, as soon as it is there."""
    count = min(os.cpu_count() or 1, len(sessions))
    size = sum(landed_bytes(job.root.path / session) for session in sessions)
    if count < 2 or size < POOL_BYTES:
        for session in sessions:
            yield session, job.run(session)
        return
    with workers(count) as pool:
        for future, session in submit(pool, job.run, sessions).items():
            yield session, _outcome(session, future)


def _outcome(session: str, future: "Future[Outcome]") -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return AszError(f"{session}: its process was killed; parse it again")
