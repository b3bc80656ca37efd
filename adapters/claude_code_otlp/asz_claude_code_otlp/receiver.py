"""The receiver as a whole: binds its address, runs both servers, ends them in order."""

import asyncio
import errno
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any, Final

import uvicorn

from asz_claude_code_otlp.address import Address
from asz_claude_code_otlp.inner import Inners, inner_endpoints
from asz_claude_code_otlp.limits import (
    KEEP_ALIVE_SECONDS,
    MAX_HEADER_BYTES,
    Memory,
    Patience,
)
from asz_claude_code_otlp.options import Options
from asz_claude_code_otlp.over_grpc import grpc_server
from asz_claude_code_otlp.over_http import HttpApp
from asz_claude_code_otlp.splitter import Splitter
from asz_hookspecs import AdapterError, Sink

_NO_SUCH_ADDRESS: Final = frozenset((errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT))

_BACKLOG: Final = 128

Place = tuple[int, Any]
"""Address family and address, as the socket module has them."""

DEFAULT_PATIENCE: Final = Patience()

log: Final = logging.getLogger(__name__)


@asynccontextmanager
async def receive(
    options: Options, sink: Sink, patience: Patience = DEFAULT_PATIENCE
) -> AsyncIterator[None]:
    """Serve OTLP on the configured address while entered.

    :raises AdapterError: nothing can listen there.
    """
    address = options.address
    memory = Memory()
    with ExitStack() as stack:
        listeners = stack.enter_context(
            _listening(options.listen, await _places(options.listen, address))
        )
        inners = stack.enter_context(inner_endpoints())
        if not address.is_loopback:
            log.warning(
                "%s: other machines can reach this; whatever they send is taken, and nothing is encrypted",
                options.listen,
            )
        async with _served(inners, address, sink, memory, patience) as splitter:
            splitter.start(listeners)
            yield


@asynccontextmanager
async def _served(
    inners: Inners, address: Address, sink: Sink, memory: Memory, patience: Patience
) -> AsyncIterator[Splitter]:
    """The servers behind the port. They end after nothing new is accepted, with what is at hand answered
    as far as that takes no longer than it may."""
    splitter = Splitter(address, inners, patience)
    grpc = grpc_server(inners.grpc_address, sink, memory, patience)
    http = _http_server(HttpApp(address, sink, memory, patience))
    await grpc.start()
    serving = asyncio.create_task(http.serve(sockets=[inners.http_socket]))
    try:
        yield splitter
    finally:
        await splitter.stop_accepting()
        http.should_exit = True
        await asyncio.gather(
            grpc.stop(patience.stop), asyncio.wait([serving], timeout=patience.stop)
        )
        await splitter.stop()  # peers that are left are cut off, and uvicorn sees them leave
        http.force_exit = True
        await serving


def _http_server(app: HttpApp) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        )
    )


@contextmanager
def _listening(listen: str, places: Iterable[Place]) -> Iterator[list[socket.socket]]:
    """A socket on each of ``places``.

    :raises AdapterError: one is taken or may not be used, or this machine has none of them.
    """
    with ExitStack() as stack:
        made: list[socket.socket] = []
        missing = ""
        for family, where in places:
            try:
                one = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
                _bind(one, family, where)
            except OSError as error:
                if error.errno not in _NO_SUCH_ADDRESS:  # as when IPv6 is off, and localhost has it
                    raise AdapterError(f"listen: {listen}: {_reason(error)}") from error
                missing = _reason(error)
            else:
                made.append(one)
        if not made:
            raise AdapterError(f"listen: {listen}: {missing}; state an address of this machine")
        yield made


def _bind(one: socket.socket, family: int, where: Any) -> None:
    if os.name == "posix":  # elsewhere it would let two processes have one port
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(where)
    one.listen(_BACKLOG)
    one.setblocking(False)


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "in use by another process, perhaps another asz collect; state another port"
    if error.errno == errno.EACCES:
        return f"{error.strerror}; state a port above 1023"
    return error.strerror or str(error)


async def _places(listen: str, address: Address) -> list[Place]:
    """Every address the configured one stands for.

    :raises AdapterError: it stands for none.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise AdapterError(f"listen: {listen}: no such address: {error.strerror}") from error
    return list(dict.fromkeys((family, where) for family, _type, _proto, _name, where in found))
