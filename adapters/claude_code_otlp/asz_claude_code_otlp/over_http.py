"""OTLP over HTTP with protobuf, as an ASGI application."""

import asyncio
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from asz_claude_code_otlp.address import Address
from asz_claude_code_otlp.limits import MAX_REQUEST_BYTES, Memory, Patience, Share
from asz_claude_code_otlp.refusal import (
    DEADLINE_EXCEEDED,
    INVALID_ARGUMENT,
    PERMISSION_DENIED,
    UNIMPLEMENTED,
    Refusal,
    malformed,
    too_large,
)
from asz_claude_code_otlp.signals import SIGNALS, Signal, take
from asz_hookspecs import Sink

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
CLOSE: Final = (("connection", "close"),)
"""For a request that cannot be read to its end."""
_PATHS: Final = {signal.path: signal for signal in SIGNALS}


class LeftError(Exception):
    """The peer went away before its request was whole: there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class HttpApp:
    """Answers one request at a call."""

    address: Address
    sink: Sink
    memory: Memory
    patience: Patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI's entry point; uvicorn calls it for HTTP requests only."""
        headers = _Headers(scope["headers"])
        try:
            with self.memory.hold() as share:
                body = await self._answer(scope, headers, receive, share)
        except LeftError:
            return
        except Refusal as refusal:
            await _send_refusal(send, refusal, as_json=headers.media_type == JSON)
        else:
            await _send(send, HTTPStatus.OK, [("content-type", PROTOBUF)], body)

    async def _answer(
        self, scope: Scope, headers: "_Headers", receive: Receive, share: Share
    ) -> bytes:
        if not self.address.accepts(headers.one("host")):
            raise Refusal(
                PERMISSION_DENIED,
                HTTPStatus.FORBIDDEN,
                "the Host header does not name this receiver",
            )
        signal = _signal(scope)
        _check_type(headers)
        inflate = _check_encoding(headers)
        try:
            async with asyncio.timeout(self.patience.body):
                body = await _read(headers, receive, share)
        except TimeoutError:
            raise Refusal(
                DEADLINE_EXCEEDED,
                HTTPStatus.REQUEST_TIMEOUT,
                "the request did not come to its end",
                headers=CLOSE,
            ) from None
        return await take(signal, _inflated(body, share) if inflate else body, self.sink)


class _Headers:
    """A request's headers by lower-case name."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in raw:
            self._values.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))

    def one(self, name: str) -> str:
        """The value; empty when there is none or several."""
        values = self._values.get(name, [])
        return values[0].strip() if len(values) == 1 else ""

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return self.one("content-type").partition(";")[0].strip().lower()


def _signal(scope: Scope) -> Signal:
    signal = _PATHS.get(scope["path"])
    if signal is None:
        known = ", ".join(_PATHS)
        raise Refusal(UNIMPLEMENTED, HTTPStatus.NOT_FOUND, f"no such path; there are {known}")
    if scope["method"] != "POST":
        raise Refusal(
            UNIMPLEMENTED,
            HTTPStatus.METHOD_NOT_ALLOWED,
            "telemetry is posted",
            headers=(("allow", "POST"),),
        )
    return signal


def _check_type(headers: _Headers) -> None:
    if headers.media_type != PROTOBUF:
        raise Refusal(
            INVALID_ARGUMENT,
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"expected the content type {PROTOBUF}; OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf sends it",
            headers=(("accept", PROTOBUF),),
        )


def _check_encoding(headers: _Headers) -> bool:
    """Whether the body is compressed."""
    encoding = headers.one("content-encoding").lower()
    if encoding not in ("", "identity", "gzip"):
        raise Refusal(
            INVALID_ARGUMENT,
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "expected the content encoding gzip, or none",
            headers=(("accept-encoding", "gzip"),),
        )
    return encoding == "gzip"


async def _read(headers: _Headers, receive: Receive, share: Share) -> bytes:
    """The body as it came.

    :raises Refusal: it is too large, or where it ends is not clear.
    :raises LeftError: the peer went away.
    """
    stated = headers.one("content-length")
    if stated and headers.one("transfer-encoding"):
        raise Refusal(
            INVALID_ARGUMENT, HTTPStatus.BAD_REQUEST, "two ways to say where it ends", headers=CLOSE
        )
    if stated and int(stated) > MAX_REQUEST_BYTES:
        raise too_large(f"{stated} bytes; at most {MAX_REQUEST_BYTES} are taken")
    pieces = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise LeftError
        piece: bytes = message.get("body", b"")
        share.grow(len(piece))
        if share.size > MAX_REQUEST_BYTES:
            raise too_large(f"more than the {MAX_REQUEST_BYTES} bytes that are taken")
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _inflated(body: bytes, share: Share) -> bytes:
    """What a gzip body holds; it may have several members.

    :raises Refusal: it is not gzip, it is cut off, or it holds too much.
    """
    pieces: list[bytes] = []
    size = 0
    while body:
        member = zlib.decompressobj(wbits=31)
        try:
            pieces.append(member.decompress(body, MAX_REQUEST_BYTES - size + 1))
        except zlib.error as error:
            raise malformed(f"not gzip: {error}") from error
        size += len(pieces[-1])
        share.grow(len(pieces[-1]))
        if size > MAX_REQUEST_BYTES:
            raise too_large(f"decompressed, more than the {MAX_REQUEST_BYTES} bytes that are taken")
        if not member.eof:
            raise malformed("gzip that is cut off")
        body = member.unused_data
    return b"".join(pieces)


async def _send_refusal(send: Send, refusal: Refusal, *, as_json: bool) -> None:
    """A Status, in the encoding of the request."""
    headers = [("content-type", JSON if as_json else PROTOBUF), *refusal.headers]
    if refusal.retry_seconds is not None:
        headers.append(("retry-after", str(refusal.retry_seconds)))
    if as_json:
        body = json.dumps({"code": refusal.code, "message": refusal.message}).encode()
    else:
        body = refusal.status.SerializeToString()
    await _send(send, refusal.http, headers, body)


async def _send(
    send: Send, status: HTTPStatus, headers: Iterable[tuple[str, str]], body: bytes
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers]
    raw.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": int(status), "headers": raw})
    await send({"type": "http.response.body", "body": body})
