"""How much the receiver takes at once. Peers are on this machine by default, but not all are well meant."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from asz_claude_code_otlp.refusal import unavailable

MAX_REQUEST_BYTES: Final = 4 << 20
"""Of one request, on the wire and decompressed: what OTLP receivers take by default, so that whatever is
kept can be sent on."""

MAX_CONNECTIONS: Final = 256
"""Further peers wait in the listening socket's queue until one leaves."""

MAX_STREAMS: Final = 100
"""Requests at once on one gRPC connection. An exporter has one for each signal; far more are let be, as
gRPC counts a request as open for a moment after its answer and resets one that comes too early."""

MAX_HEADER_BYTES: Final = 64 << 10

MAX_HELD_BYTES: Final = 64 << 20
"""Of all requests at once that are being read or kept."""

KEEP_ALIVE_SECONDS: Final = 75
"""Between two HTTP requests: longer than the minute in which Claude Code exports by default."""

IDLE_SECONDS: Final = 300
"""A gRPC connection without requests is closed; peers make a new one without being told to."""

CONNECTION_SECONDS: Final = 900
"""The age at which a gRPC connection is closed: it bounds a request whose bytes never come."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for what a peer may never do, in seconds."""

    preface: float = 5.0
    """Until the first bytes of a connection say which protocol it speaks."""
    body: float = 15.0
    """From an HTTP request's headers to its end."""
    answer: float = 30.0
    """From the first byte of an HTTP request to the first one of its answer."""
    linger: float = 1.0
    """For what is still on its way when one side has ended."""
    stop: float = 0.5
    """For requests at hand when the receiver ends."""


class Memory:
    """Bytes of the requests that are being read or kept."""

    def __init__(self, limit: int = MAX_HELD_BYTES) -> None:
        self._free = limit

    @contextmanager
    def hold(self) -> Iterator["Share"]:
        """One request's share, given back at the end."""
        share = Share(self)
        try:
            yield share
        finally:
            self._free += share.size

    def take(self, size: int) -> None:
        """Take so many bytes.

        :raises Refusal: there are not as many: the peer should try again.
        """
        if size > self._free:
            raise unavailable("too many requests at once", retry_seconds=1)
        self._free -= size


class Share:
    """What one request has of the memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.size = 0

    def grow(self, size: int) -> None:
        """Take so many more bytes.

        :raises Refusal: there are not as many.
        """
        self._memory.take(size)
        self.size += size
