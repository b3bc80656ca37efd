"""OTLP over gRPC: messages are handed on as the bytes they came as."""

import os
from collections.abc import Awaitable, Callable
from typing import Final

os.environ.setdefault(
    "GRPC_VERBOSITY", "NONE"
)  # or its core writes lines of its own to the terminal
import grpc
import grpc.aio

from asz_claude_code_otlp.limits import (
    CONNECTION_SECONDS,
    IDLE_SECONDS,
    MAX_HEADER_BYTES,
    MAX_REQUEST_BYTES,
    MAX_STREAMS,
    Memory,
    Patience,
)
from asz_claude_code_otlp.refusal import Refusal
from asz_claude_code_otlp.signals import SIGNALS, Signal, take
from asz_hookspecs import Sink

STATUS_KEY: Final = "grpc-status-details-bin"

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    ("grpc.max_metadata_size", MAX_HEADER_BYTES),
    ("grpc.max_concurrent_streams", MAX_STREAMS),
    ("grpc.max_connection_idle_ms", IDLE_SECONDS * 1000),
    ("grpc.max_connection_age_ms", CONNECTION_SECONDS * 1000),
    ("grpc.max_connection_age_grace_ms", 30_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.so_reuseport", 0),
)

Export = Callable[[bytes, "grpc.aio.ServicerContext[bytes, bytes]"], Awaitable[bytes]]


def grpc_server(address: str, sink: Sink, memory: Memory, patience: Patience) -> grpc.aio.Server:
    """A server of the three services on a private address; not yet started."""
    handshake = ("grpc.server_handshake_timeout_ms", int(patience.preface * 1000))
    server = grpc.aio.server(options=(*_OPTIONS, handshake))
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(
                signal.service,
                {"Export": grpc.unary_unary_rpc_method_handler(_export(signal, sink, memory))},
            )
            for signal in SIGNALS
        ]
    )
    server.add_insecure_port(address)
    return server


def _export(signal: Signal, sink: Sink, memory: Memory) -> Export:
    async def export(body: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        try:
            with memory.hold() as share:
                share.grow(len(body))
                return await take(signal, body, sink)
        except Refusal as refusal:
            await _refuse(context, refusal)
            raise

    return export


async def _refuse(context: "grpc.aio.ServicerContext[bytes, bytes]", refusal: Refusal) -> None:
    code = next(code for code in grpc.StatusCode if code.value[0] == refusal.code)
    details = refusal.status.SerializeToString()
    await context.abort(code, refusal.message, ((STATUS_KEY, details),))
