"""One port for two protocols: the first bytes of a connection say which server behind it is meant."""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from asz_claude_code_otlp.address import Address
from asz_claude_code_otlp.authority import PREFACE, AuthorityWatch
from asz_claude_code_otlp.inner import Inners, Streams
from asz_claude_code_otlp.limits import MAX_CONNECTIONS, Patience
from asz_claude_code_otlp.relay import BLOCK, GrpcRelay, HttpRelay, close

_OUT_OF_FILES_SECONDS: Final = 0.2


@dataclass
class Splitter:
    """Accepts on the public sockets and relays to the servers behind."""

    address: Address
    inners: Inners
    patience: Patience
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONNECTIONS))
    _accepting: list[asyncio.Task[None]] = field(default_factory=list)
    _serving: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, listeners: Sequence[socket.socket]) -> None:
        """Begin to accept."""
        self._accepting = [asyncio.create_task(self._accept(one)) for one in listeners]

    async def stop_accepting(self) -> None:
        """Take no further connection."""
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)

    async def stop(self) -> None:
        """End what is left after the servers behind ended."""
        if self._serving:
            await asyncio.wait(self._serving, timeout=self.patience.stop / 5)
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _accept(self, listener: socket.socket) -> None:
        """Only as many connections as there are slots are taken; the others wait with the system."""
        loop = asyncio.get_running_loop()
        while True:
            await self._slots.acquire()
            try:
                taken, _peer = await loop.sock_accept(listener)
            except OSError:  # the peer has left already, or this process has no file left for it
                self._slots.release()
                await asyncio.sleep(_OUT_OF_FILES_SECONDS)
                continue
            except BaseException:
                self._slots.release()
                raise
            task = asyncio.create_task(self._serve(taken))
            self._serving.add(task)
            task.add_done_callback(self._served)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        self._slots.release()

    async def _serve(self, taken: socket.socket) -> None:
        with taken:
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = await asyncio.open_connection(sock=taken)
            try:
                await self._relay(client)
            except (OSError, EOFError, TimeoutError):
                pass  # a peer that left, or said nothing, has nothing to be told
            finally:
                await close(client[1], self.patience)

    async def _relay(self, client: Streams) -> None:
        first = await self._first_bytes(client[0])
        http2 = first.startswith(PREFACE)
        server = await (self.inners.grpc if http2 else self.inners.http).connect()
        try:
            if http2:
                watch = AuthorityWatch(self.address.accepts)
                await GrpcRelay(client, server, first, self.patience, watch).run()
            else:
                await HttpRelay(client, server, first, self.patience).run()
        finally:
            await close(server[1], self.patience)

    async def _first_bytes(self, reader: asyncio.StreamReader) -> bytes:
        """What a peer sends first, until it is HTTP/2's preface or differs from it.

        :raises TimeoutError: that takes too long.
        :raises EOFError: the peer left.
        """
        first = b""
        async with asyncio.timeout(self.patience.preface):
            while len(first) < len(PREFACE) and PREFACE.startswith(first):
                piece = await reader.read(BLOCK)
                if not piece:
                    raise EOFError
                first += piece
        return first
