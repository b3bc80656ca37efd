"""OTLP over gRPC."""

import os
import re
from typing import Any, Final

from asz import __version__
from asz.export.endpoint import Receiver
from asz.export.exchange import (
    Answer,
    Failed,
    Later,
    Scope,
    Signal,
    TooLarge,
    read_response,
    read_status,
    shortened,
)

# grpcio reads the variable as it is imported; without it its core writes lines of its own to the terminal
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
import grpc

_STATUS: Final = "grpc-status-details-bin"
_WORDS_OF_THE_CORE: Final = re.compile(r"(?s)(?:.*last error: )?(?:[A-Z_]+: )?(?:ipv[46]:\S+: )?")
"""What grpcio's core puts before the reason a connection failed."""

_SCOPES: Final[dict[grpc.StatusCode, Scope]] = {
    grpc.StatusCode.INVALID_ARGUMENT: "request",
    grpc.StatusCode.OUT_OF_RANGE: "request",
    grpc.StatusCode.DATA_LOSS: "request",
    grpc.StatusCode.INTERNAL: "request",
    grpc.StatusCode.UNKNOWN: "request",
    grpc.StatusCode.UNIMPLEMENTED: "signal",
}
"""Codes that leave room for other requests; any other is about the receiver."""


class GrpcTransport:
    """One channel to one receiver."""

    def __init__(self, receiver: Receiver) -> None:
        options: list[tuple[str, Any]] = [("grpc.primary_user_agent", f"asz/{__version__}")]
        if receiver.local:
            options.append(("grpc.enable_http_proxy", 0))
        if receiver.tls:
            credentials = grpc.ssl_channel_credentials(receiver.authorities)
            self._channel = grpc.secure_channel(receiver.authority, credentials, options)
        else:
            self._channel = grpc.insecure_channel(receiver.authority, options)
        self._timeout = receiver.timeout
        self._metadata = tuple(receiver.headers.items())
        self._methods: dict[Signal, grpc.UnaryUnaryMultiCallable[bytes, bytes]] = {
            signal: self._channel.unary_unary(signal.method) for signal in Signal
        }

    def send(self, signal: Signal, body: bytes) -> Answer:
        """Send one encoded request and wait for the answer."""
        try:
            answer: bytes = self._methods[signal](
                body, timeout=self._timeout, metadata=self._metadata
            )
        except grpc.RpcError as error:
            return self._answer(error)
        taken = read_response(signal, answer)
        if taken is None:
            return Failed("answered with something that is no OTLP response", "signal")
        return taken

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def _answer(self, error: Any) -> Answer:
        """What a failed call means. ``error`` is also the call: grpcio's own types do not say so."""
        code: grpc.StatusCode = error.code()
        details: str = error.details() or ""
        status = next((v for k, v in error.trailing_metadata() or () if k == _STATUS), b"")
        _, seconds = read_status(status)
        asked = code in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)
        if asked and seconds is not None:
            return Later(seconds, shortened(details))
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            return TooLarge(shortened(details))
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return Failed(f"did not answer within {self._timeout:g} seconds", "receiver")
        reason = shortened(_WORDS_OF_THE_CORE.sub("", details, count=1))
        if code is grpc.StatusCode.UNAVAILABLE:
            return Failed(f"cannot be reached: {reason}", "receiver")
        return Failed(f"answered {code.name}: {reason}", _SCOPES.get(code, "receiver"))
