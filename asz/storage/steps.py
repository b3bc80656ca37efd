"""The durable steps of asz, by name.

Everything that must survive a crash happens inside ``with step(...)``. The crash tests replace
``observer`` and kill the process before and after each step; another test proves that no durable call
happens outside of one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Literal


class Step(StrEnum):
    """Every durable step."""

    ROOT_MARK = "root.mark"
    FILE_WRITE = "file.write"
    FILE_SYNC = "file.sync"
    FILE_INSTALL = "file.install"
    DIRECTORY_SYNC = "directory.sync"
    CURSOR_SAVE = "cursor.save"
    INDEX_SAVE = "index.save"
    ROUND_WRITE = "round.write"
    ROUND_INSTALL = "round.install"
    CHAIN_SET_ASIDE = "chain.set_aside"
    STATE_SAVE = "state.save"
    MEMORY_SAVE = "memory.save"
    DATABASE_BACKUP = "database.backup"
    DATABASE_MIGRATE = "database.migrate"
    METRICS_MARK = "metrics.mark"
    METRICS_BEGIN = "metrics.begin"
    METRICS_COUNT = "metrics.count"
    METRICS_RELEASE = "metrics.release"
    SPOOL_WRITE = "spool.write"
    SPOOL_INSTALL = "spool.install"
    SPOOL_PRUNE = "spool.prune"
    SENT_SAVE = "sent.save"


Moment = Literal["before", "after"]


def _unobserved(_step: Step, _moment: Moment) -> None:
    """Nobody watches outside of tests."""


observer: Callable[[Step, Moment], None] = _unobserved


@contextmanager
def step(name: Step) -> Iterator[None]:
    """Run one durable step. Not left normally, it did not happen as far as the caller knows."""
    observer(name, "before")
    yield
    observer(name, "after")
