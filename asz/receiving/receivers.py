"""The life of receivers: an event loop in a thread of its own, for as long as asz watches."""

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from asz.collect.work import AdapterCalls, Limits
from asz.errors import AszError
from asz.receiving.sink import RootSink, SessionTurns
from asz.receiving.spooling import SpoolWriter
from asz.storage.root import Root
from asz_hookspecs import Sink

START_SECONDS: Final = 10.0
"""How long the start of watching waits for receivers to serve; one that takes longer serves later."""

STOP_SECONDS: Final = 2.0
"""How long a receiver has to end before it is cancelled; the contract says one second."""


_OFF: Final = "; its metrics are off, so those it receives are dropped"


class ReceiverCalls(AdapterCalls, Protocol):
    """What is asked of an adapter that is pushed to; every method raises ``AszError`` and nothing else."""

    @property
    def title(self) -> str:
        """Name and label as one word for a person."""

    @property
    def receives(self) -> bool:
        """Whether it serves peers that push."""

    @property
    def metrics(self) -> bool:
        """Whether its metrics are on."""

    def receive(self, options: Any, sink: Sink) -> AbstractAsyncContextManager[None]:
        """Call ``asz_receive``; entering and leaving what it returns is guarded too."""


class Messages(Protocol):
    """Told what happens, from the receivers' thread as well."""

    def error(self, error: AszError | str) -> None:
        """A receiver does not serve, or left something: the exit status is not zero."""

    def note(self, message: str) -> None:
        """Something worth saying with ``-v``."""


@dataclass
class Receivers:
    """The receivers of one watching command."""

    root: Root
    adapters: tuple[ReceiverCalls, ...]
    limits: Limits
    messages: Messages
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _settled: threading.Event = field(default_factory=threading.Event)
    _open: int = 0
    """Receivers that neither serve nor failed yet."""

    async def serve(self) -> None:
        """Serve until ``stop``. A receiver that fails costs itself only."""
        spool, turns = SpoolWriter(self.root), SessionTurns()
        self._open = len(self.adapters)
        tasks = [asyncio.create_task(self._one(adapter, spool, turns)) for adapter in self.adapters]
        try:
            await self._stop.wait()
            _done, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        finally:
            self._settled.set()
            spool.close()

    async def _one(self, adapter: ReceiverCalls, spool: SpoolWriter, turns: SessionTurns) -> None:
        sink = RootSink(
            self.root, adapter, adapter.metrics, spool, turns, self.limits, self.messages.error
        )
        begun = False
        try:
            async with adapter.receive(adapter.options, sink):
                begun = True
                off = "" if adapter.metrics or adapter.info.meters is None else _OFF
                self._begun(f"{adapter.title}: receiving{off}")
                await self._stop.wait()
        except AszError as error:
            self.messages.error(error)
        finally:
            if not begun:
                self._begun(f"{adapter.title}: not receiving")

    def _begun(self, message: str) -> None:
        self.messages.note(message)
        self._open -= 1
        if not self._open:
            self._settled.set()

    def stop(self) -> None:
        """End serving; to be called in the event loop."""
        self._stop.set()

    def wait(self) -> None:
        """Wait until each receiver serves or failed, but not for ever."""
        self._settled.wait(START_SECONDS)


@contextmanager
def receiving(
    root: Root, adapters: Iterable[ReceiverCalls], limits: Limits, messages: Messages
) -> Iterator[None]:
    """Run the receivers among ``adapters`` while the block runs. What they answered is durable."""
    chosen = tuple(adapter for adapter in adapters if adapter.receives)
    if not chosen:
        yield
        return
    receivers = Receivers(root, chosen, limits, messages)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(
        target=_run, args=(loop, receivers), name="asz-receivers", daemon=True
    )
    thread.start()
    try:
        receivers.wait()
        yield
    finally:
        with suppress(RuntimeError):  # its loop has ended already
            loop.call_soon_threadsafe(receivers.stop)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop, receivers: Receivers) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(receivers.serve())
