"""HTTP/2 header blocks as they pass, however the bytes are cut."""

import contextlib
import itertools

import hpack
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz_claude_code_otlp.authority import (
    PREFACE,
    AuthorityWatch,
    MisdirectedError,
    NotHttp2Error,
)

from .serving import PROTOBUF, Receiver, request

HEADERS, SETTINGS, DATA, CONTINUATION = 1, 4, 0, 9


def frame(kind: int, payload: bytes, stream: int = 1, flags: int = 4) -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4) + payload


def headers(authority: str | None, encoder: hpack.Encoder, name: str = ":authority") -> bytes:
    fields = [(":method", "POST"), (":scheme", "http"), (":path", "/x/Export")]
    if authority is not None:
        fields.append((name, authority))
    return encoder.encode([*fields, ("te", "trailers")])


def watched(*pieces: bytes) -> AuthorityWatch:
    watch = AuthorityWatch(lambda name: name == "localhost")
    for piece in pieces:
        watch.feed(piece)
    return watch


@given(st.lists(st.integers(1, 60), max_size=60))
def test_every_cut_finds_the_same_request(cuts: list[int]) -> None:
    encoder = hpack.Encoder()
    good = headers("localhost", encoder)
    padded = bytes((3,)) + bytes(5) + headers("localhost", encoder) + bytes(3)
    bad = headers("evil.example", encoder)
    sent = PREFACE + frame(SETTINGS, bytes(6), 0, 0)
    sent += frame(HEADERS, good) + frame(DATA, bytes(50), 1, 1)
    sent += frame(HEADERS, padded, 3, 4 | 8 | 0x20) + frame(
        HEADERS, encoder.encode([("a", "b")]), 3, 5
    )
    sent += frame(HEADERS, bad[:3], 5, 0) + frame(CONTINUATION, bad[3:], 5)
    starts = [0, *itertools.accumulate(cuts)]
    pieces = [sent[start:end] for start, end in itertools.pairwise([*starts, len(sent)])]
    with pytest.raises(MisdirectedError) as caught:
        watched(*pieces)
    assert caught.value.stream == 5


@pytest.mark.parametrize(
    ("block", "accepted"),
    [
        (headers("localhost", hpack.Encoder(), "host"), True),
        (headers("evil.example", hpack.Encoder(), "host"), False),
        (headers(None, hpack.Encoder()), False),
    ],
)
def test_the_host_header_stands_in(block: bytes, accepted: bool) -> None:
    if accepted:
        watched(PREFACE, frame(HEADERS, block))
    else:
        with pytest.raises(MisdirectedError):
            watched(PREFACE, frame(HEADERS, block))


@pytest.mark.parametrize(
    "sent",
    [
        frame(HEADERS, b"\xff" * 20),
        frame(HEADERS, b"", flags=4 | 8),
        frame(HEADERS, bytes(70_000)),
        frame(HEADERS, bytes(40_000), flags=0) + frame(CONTINUATION, bytes(40_000)),
    ],
    ids=["no code", "no padding", "one too large", "together too large"],
)
def test_what_cannot_be_followed_is_said(sent: bytes) -> None:
    with pytest.raises(NotHttp2Error):
        watched(PREFACE, sent)


@given(st.binary(max_size=400))
def test_no_bytes_make_it_fail_otherwise(noise: bytes) -> None:
    with contextlib.suppress(MisdirectedError, NotHttp2Error):
        watched(PREFACE, noise)


def test_http2_that_is_not_grpc_keeps_nothing(receiver: Receiver) -> None:
    with (
        httpx.Client(http1=False, http2=True, timeout=20) as client,
        pytest.raises(httpx.RemoteProtocolError),  # the stream is reset
    ):
        client.post(f"{receiver.url}/v1/metrics", content=request(), headers=PROTOBUF)
    assert receiver.sink.bodies == []


def test_noise_after_the_preface_is_closed(receiver: Receiver) -> None:
    with receiver.connected() as connection:
        connection.sendall(PREFACE + frame(HEADERS, b"\xff" * 20))
        while connection.recv(4096):
            pass
    assert receiver.sink.bodies == []
