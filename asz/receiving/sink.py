"""Where one adapter puts what it receives."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from asz.collect.work import AdapterCalls, Limits
from asz.receiving.landing import land, source_of
from asz.receiving.spooling import SpoolWriter
from asz.storage.root import Root
from asz_hookspecs.source import SourceKind


class SessionTurns:
    """One landing at a time in each session. The session's lock fails at once, also within one process,
    and two streams of a session that push together are in nobody's way."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, session: str) -> asyncio.Lock:
        """What to hold while landing; forgotten once nobody waits for it."""
        return self._locks.setdefault(session, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class RootSink:
    """An ``asz_hookspecs.Sink`` over a storage root."""

    root: Root
    adapter: AdapterCalls
    metrics_on: bool
    """Whether the entry's metrics are on; else metrics are taken and dropped, like what asz has no use
    for, since another adapter counts the same."""
    spool: SpoolWriter
    turns: SessionTurns
    limits: Limits
    tell: Callable[[str], None]
    """Told each thing that went wrong while records landed, one line each."""

    async def metrics(self, body: bytes) -> None:
        """Keep one request in the spool, byte for byte.

        :raises Busy: another process receives metrics for this root.
        :raises StorageFull: the disk takes no more.
        """
        if self.metrics_on:
            await self.spool.add(body)

    async def records(
        self, session: str, stream: str, kind: SourceKind, src: str, lines: Sequence[bytes]
    ) -> None:
        """Land raw records of a session.

        :raises Busy: another process has the session.
        :raises StorageFull: the disk takes no more.
        :raises AdapterError: a name is refused, or the session is another runtime's.
        """
        source = source_of(stream, kind, src)
        args = (self.root, self.adapter, session, source, list(lines), self.limits)
        async with self.turns.of(session):
            problems = await asyncio.to_thread(land, *args)
        for problem in problems:
            self.tell(problem)
