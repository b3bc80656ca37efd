"""One connection, passed on in both directions."""

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from asz_claude_code_otlp.authority import (
    AuthorityWatch,
    MisdirectedError,
    NotHttp2Error,
    denial,
)
from asz_claude_code_otlp.inner import Streams
from asz_claude_code_otlp.limits import Patience
from asz_claude_code_otlp.refusal import PERMISSION_DENIED

BLOCK: Final = 64 << 10


@dataclass
class HttpRelay:
    """Between an HTTP/1 peer and the server behind.

    The server bounds the time between requests, the application that of a body. What neither sees, a
    request whose headers do not end, is bounded here: a peer that sent something must get the first byte
    of an answer in time.
    """

    client: Streams
    server: Streams
    first: bytes
    """What was read of the peer already."""
    patience: Patience
    _unanswered: bool = False
    """Whether the peer sent something since the server did."""
    _ended: bool = False
    """Whether the peer sends no more."""
    _deadline: asyncio.Timeout = field(init=False)

    async def run(self) -> None:
        """Pass on until one side ends or the peer is too slow."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None) as self._deadline:
                await _beside(self._up(), self._down())
        await _hang_up(self.client, self.patience)

    async def _up(self) -> None:
        reader, writer = self.client[0], self.server[1]
        data = self.first
        while data:
            if not self._unanswered:
                self._unanswered = True
                self._give(self.patience.answer)
            await _write(writer, data)
            data = await reader.read(BLOCK)
        self._ended = True
        if not self._unanswered:
            writer.write_eof()
        # Else the peer only said that it has no further request (``printf … | nc``). uvicorn would take the
        # end of its input for the peer's leaving and not answer.

    async def _down(self) -> None:
        reader, writer = self.server[0], self.client[1]
        while data := await reader.read(BLOCK):
            self._unanswered = False
            self._give(self.patience.linger if self._ended else None)
            await _write(writer, data)

    def _give(self, seconds: float | None) -> None:
        now = asyncio.get_running_loop().time()
        self._deadline.reschedule(None if seconds is None else now + seconds)


@dataclass
class GrpcRelay:
    """Between an HTTP/2 peer and gRPC, which itself bounds what a peer may take in time."""

    client: Streams
    server: Streams
    first: bytes
    patience: Patience
    watch: AuthorityWatch
    _misdirected: int | None = None
    """Stream of the request that names another host."""

    async def run(self) -> None:
        """Pass on until one side ends, or a request names another host: that one is refused."""
        await _beside(self._up(), self._down())
        if self._misdirected is not None:
            message = "the authority does not name this receiver"
            await _write(self.client[1], denial(self._misdirected, PERMISSION_DENIED, message))
        await _hang_up(self.client, self.patience)

    async def _up(self) -> None:
        reader, writer = self.client[0], self.server[1]
        data = self.first
        while data:
            try:
                self.watch.feed(data)
            except MisdirectedError as error:
                self._misdirected = error.stream
                break
            except NotHttp2Error:
                break
            await _write(writer, data)
            data = await reader.read(BLOCK)
        writer.write_eof()

    async def _down(self) -> None:
        reader, writer = self.server[0], self.client[1]
        while data := await reader.read(BLOCK):
            await _write(writer, data)


async def _beside(up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]) -> None:
    """Both directions, until the server's ends or either fails.

    :raises OSError: one side has gone.
    """
    upward, downward = asyncio.create_task(up), asyncio.create_task(down)
    upward.add_done_callback(lambda task: _failed(task) and downward.cancel())
    try:
        await asyncio.wait([downward])
    finally:
        upward.cancel()
        downward.cancel()
        await asyncio.gather(upward, downward, return_exceptions=True)
    for task in (upward, downward):
        if error := _failed(task):
            raise error


def _failed(task: asyncio.Task[None]) -> BaseException | None:
    return None if task.cancelled() else task.exception()


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write and wait until most of it has left: this is what keeps a connection's memory small."""
    writer.write(data)
    await writer.drain()


async def _hang_up(client: Streams, patience: Patience) -> None:
    """End a connection so that the peer gets the last answer: closed with bytes of it unread, the system
    would take the answer back."""
    reader, writer = client
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(patience.linger):
            writer.write_eof()
            while await reader.read(BLOCK):
                pass


async def close(writer: asyncio.StreamWriter, patience: Patience) -> None:
    """Close, whatever became of the connection; what the peer does not read in time is given up."""
    writer.close()
    try:
        async with asyncio.timeout(patience.linger):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        pass
    finally:
        writer.transport.abort()
