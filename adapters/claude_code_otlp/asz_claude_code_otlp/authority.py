"""Watches the header blocks of an HTTP/2 connection for the ``:authority`` of each request.

grpcio does not tell its handlers whom a peer meant to reach, so it is read where the bytes pass. Nothing
is changed on the way, and nothing but header blocks is looked at.
"""

from collections.abc import Callable
from typing import Final

import hpack

from asz_claude_code_otlp.limits import MAX_HEADER_BYTES

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_FRAME_HEAD: Final = 9
_HEADERS: Final = 0x1
_GOAWAY: Final = 0x7
_CONTINUATION: Final = 0x9
_END_STREAM: Final = 0x1
_END_HEADERS: Final = 0x4
_PADDED: Final = 0x8
_PRIORITY: Final = 0x20


class MisdirectedError(Exception):
    """A request names another host. ``stream`` is its HTTP/2 stream."""

    def __init__(self, stream: int) -> None:
        super().__init__(stream)
        self.stream = stream


class NotHttp2Error(Exception):
    """The bytes are no HTTP/2, or a header block is too large."""


class AuthorityWatch:
    """Told every byte a peer sends, from the preface on."""

    def __init__(self, accepts: Callable[[str], bool]) -> None:
        self._accepts = accepts
        self._decoder = hpack.Decoder(max_header_list_size=MAX_HEADER_BYTES)
        self._decoder.max_allowed_table_size = MAX_HEADER_BYTES
        self._skip = len(PREFACE)
        self._buffer = b""
        self._block = b""

    def feed(self, data: bytes) -> None:
        """The next bytes.

        :raises MisdirectedError: a request in them, or completed by them, names another host.
        :raises NotHttp2Error: they cannot be followed.
        """
        data = self._buffer + data
        at = 0
        while True:
            skipped = min(self._skip, len(data) - at)
            at += skipped
            self._skip -= skipped
            head = data[at : at + _FRAME_HEAD]
            if len(head) < _FRAME_HEAD:
                break
            length = int.from_bytes(head[:3])
            if head[3] not in (_HEADERS, _CONTINUATION):
                self._skip = _FRAME_HEAD + length
                continue
            if length + len(self._block) > MAX_HEADER_BYTES:
                raise NotHttp2Error("a header block is too large")
            end = at + _FRAME_HEAD + length
            if end > len(data):
                break
            self._fragment(head, data[at + _FRAME_HEAD : end])
            at = end
        self._buffer = data[at:]

    def _fragment(self, head: bytes, payload: bytes) -> None:
        kind, flags = head[3], head[4]
        if kind == _HEADERS:
            payload = _without_padding(payload, flags)
        self._block += payload
        if flags & _END_HEADERS:
            block, self._block = self._block, b""
            self._check(int.from_bytes(head[5:]) & 0x7FFFFFFF, block)

    def _check(self, stream: int, block: bytes) -> None:
        try:
            headers = dict(self._decoder.decode(block, raw=True))
        except hpack.HPACKError as error:
            raise NotHttp2Error(str(error)) from error
        if b":method" not in headers:  # trailers name no host
            return
        named = headers.get(b":authority", headers.get(b"host", b""))
        if not self._accepts(named.decode("latin-1")):
            raise MisdirectedError(stream)


def _without_padding(payload: bytes, flags: int) -> bytes:
    start, end = 0, len(payload)
    if flags & _PADDED:
        if not payload:
            raise NotHttp2Error("a padded frame without padding")
        start, end = 1, end - payload[0]
    if flags & _PRIORITY:
        start += 5
    return payload[start:end]


def denial(stream: int, code: int, message: str) -> bytes:
    """The frames that refuse one gRPC request and end the connection.

    They are written after the server's own last frame. Nothing in them enters the peer's header table, so
    they fit whatever was sent before.
    """
    fields = [
        (":status", "200"),
        ("content-type", "application/grpc"),
        ("grpc-status", str(code)),
        ("grpc-message", message),
    ]
    encoder = hpack.Encoder()
    block = encoder.encode([hpack.NeverIndexedHeaderTuple(*field) for field in fields])
    headers = _frame(_HEADERS, _END_HEADERS | _END_STREAM, stream, block)
    return headers + _frame(_GOAWAY, 0, 0, stream.to_bytes(4) + bytes(4))


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4) + payload
