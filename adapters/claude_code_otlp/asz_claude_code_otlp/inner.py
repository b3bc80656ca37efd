"""The private endpoints behind the one public port: Unix sockets in a directory of our own."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_LONGEST_PLACE: Final = 78
"""A Unix socket's path ends at 103 bytes on some systems, 23 of which are our own names; a temporary
directory with a longer name is passed over for ``/tmp``."""


@dataclass(frozen=True, slots=True)
class Inner:
    """One private endpoint: a socket's path or, where there are none, a port of the loopback address."""

    path: str = ""
    port: int = 0

    async def connect(self) -> Streams:
        """A connection to who listens there.

        :raises OSError: nobody does.
        """
        if self.path and sys.platform != "win32":
            return await asyncio.open_unix_connection(self.path)
        return await asyncio.open_connection("127.0.0.1", self.port)


@dataclass(frozen=True, slots=True)
class Inners:
    """The two endpoints. HTTP's socket is listening already: a peer waits until it is served."""

    http: Inner
    http_socket: socket.socket
    grpc: Inner

    @property
    def grpc_address(self) -> str:
        """What gRPC calls its endpoint."""
        return f"unix:{self.grpc.path}" if self.grpc.path else f"127.0.0.1:{self.grpc.port}"


@contextmanager
def inner_endpoints(*, unix: bool = sys.platform != "win32") -> Iterator[Inners]:
    """Make the endpoints; nobody else may enter the directory (0700).

    :param unix: whether there are Unix sockets.
    """
    if not unix:
        with _bound(socket.AF_INET, ("127.0.0.1", 0)) as http:
            yield Inners(Inner(port=http.getsockname()[1]), http, Inner(port=_free_port()))
        return
    place = tempfile.gettempdir()
    if len(os.fsencode(place)) > _LONGEST_PLACE:
        place = "/tmp"  # noqa: S108 - only to make a private directory in it
    with tempfile.TemporaryDirectory(prefix="asz-otlp-", dir=place) as directory:
        paths = [str(Path(directory) / name) for name in ("http", "grpc")]
        with _bound(socket.AF_UNIX, paths[0]) as http:
            yield Inners(Inner(paths[0]), http, Inner(paths[1]))


@contextmanager
def _bound(family: socket.AddressFamily, address: object) -> Iterator[socket.socket]:
    with socket.socket(family, socket.SOCK_STREAM) as made:
        made.bind(address)  # type: ignore[arg-type]
        made.listen()
        made.setblocking(False)
        yield made


def _free_port() -> int:
    """A port nobody listens on now; gRPC opens its sockets itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
