"""The one writer of received metrics: requests that arrive together become durable together."""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from asz.metrics.spool import Spool
from asz.receiving.errors import sink_errors
from asz.storage.locks import hold
from asz.storage.root import Root

LOCK: Final = ".receive.lock"
"""In ``_metrics/``: one process receives metrics for a root. Not ``.lock``, which a derivation may hold
for as long as a first one takes."""

_GROUP_BYTES: Final = 16 << 20
"""Most bytes written before those who wait are answered."""


class SpoolWriter:
    """Keeps received metrics requests in a root's spool.

    Used from one event loop; what blocks runs in a thread. A sync of the directory dominates the cost of
    a small request, so whatever arrives while one group is written makes up the next.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        self._spool = Spool(root)
        self._held = ExitStack()
        self._opened = False
        self._last = 0
        self._waiting: deque[tuple[bytes, asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._lock = threading.Lock()

    async def add(self, body: bytes) -> None:
        """Keep one request; durable when this returns.

        :raises Busy: another process receives metrics for this root.
        :raises StorageFull: the disk takes no more.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((body, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await done

    def close(self) -> None:
        """Let another process receive. What was added before is durable."""
        with self._lock:
            self._opened = False
            self._held.close()

    async def _write(self) -> None:
        try:
            while self._waiting:
                group = self._next_group()
                try:
                    await asyncio.to_thread(self._keep, [body for body, _done in group])
                except Exception as error:  # whoever waits must hear of it, whatever it is
                    for _body, done in group:
                        _fail(done, error)
                else:
                    for _body, done in group:
                        if not done.done():
                            done.set_result(None)
        finally:
            self._writing = None

    def _next_group(self) -> list[tuple[bytes, asyncio.Future[None]]]:
        group = [self._waiting.popleft()]
        size = len(group[0][0])
        while self._waiting and size + len(self._waiting[0][0]) <= _GROUP_BYTES:
            group.append(self._waiting.popleft())
            size += len(group[-1][0])
        return group

    def _keep(self, bodies: Sequence[bytes]) -> None:
        with self._lock, sink_errors():
            if not self._opened:
                self._open()
            first = self._last + 1
            self._last += len(bodies)  # a number is not tried again when writing fails
            self._spool.add_all(first, bodies, "otlp")

    def _open(self) -> None:
        """Become the root's one receiver of metrics. The number goes on after the highest there is."""
        self._root.make()
        self._spool.make()
        with ExitStack() as held:
            held.enter_context(hold(self._spool.directory / LOCK))
            self._spool.remove_leftovers("otlp")
            self._last = self._spool.last_seq()
            self._held = held.pop_all()
        self._opened = True


def _fail(done: "asyncio.Future[None]", error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
