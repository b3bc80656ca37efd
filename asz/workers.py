"""Processes that share out work on many sessions. They end with the process that started them, and leave
interrupts to it."""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, TypeVar

YOUNG_OBJECTS: Final = 100_000
"""New objects before a worker looks for cycles among them. Records die by their reference counts; looking
after every 700, as is the default, costs a twentieth of a pass."""

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@contextmanager
def workers(
    count: int,
    start: Callable[..., None] | None = None,
    args: tuple[Any, ...] = (),
    *,
    stop: Callable[[], None] | None = None,
) -> Iterator[ProcessPoolExecutor]:
    """A pool of spawned processes: a fork would copy the locks of threads and whatever an adapter holds.

    :param start: called with ``args`` in each process before its first work; picklable.
    :param stop: called when the block is left by an exception, before running work is waited for.
    """
    pool = ProcessPoolExecutor(
        count, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(start, args)
    )
    try:
        yield pool
    except BaseException:
        if stop is not None:
            stop()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


def submit(
    pool: ProcessPoolExecutor, work: Callable[[Item], Outcome], items: Iterable[Item]
) -> "dict[Future[Outcome], Item]":
    """Hand all items to the pool, in order."""
    with _interrupts_held():
        return {pool.submit(work, item): item for item in items}


def _begin(start: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the waiting process decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.set_threshold(YOUNG_OBJECTS)
    if start is not None:
        start(*args)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever. It can end anywhere, as a crash can."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes started in here inherit that an interrupt waits: one that came while a worker is still
    importing would end it with a traceback. This process gets its own afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
