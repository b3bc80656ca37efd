"""Peers that are slow, or never finish: each costs its own connection only."""

import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from asz_claude_code_otlp.authority import PREFACE
from asz_claude_code_otlp.limits import Patience

from .serving import PROTOBUF, Receiver, read_answer, request

SHORT = Patience(preface=0.3, body=0.3, answer=0.6, linger=0.2)
HEAD = (
    b"POST /v1/metrics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\n"
    b"Content-Length: 100\r\n\r\n"
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that does not wait long."""
    with Receiver(patience=SHORT) as made:
        yield made


def until_closed(connection: socket.socket) -> bytes:
    answer = b""
    while piece := connection.recv(4096):
        answer += piece
    return answer


def takes(receiver: Receiver) -> bool:
    """Whether the receiver still takes requests of others."""
    answer = httpx.post(f"{receiver.url}/v1/metrics", content=request(), headers=PROTOBUF)
    return answer.status_code == 200


@pytest.mark.parametrize("sent", [b"", PREFACE[:1], PREFACE[:-1]])
def test_who_does_not_say_what_it_speaks_is_closed(receiver: Receiver, sent: bytes) -> None:
    with receiver.connected() as connection:
        connection.sendall(sent)
        assert until_closed(connection) == b""
    assert takes(receiver)


def test_who_says_http2_and_nothing_more_is_closed(receiver: Receiver) -> None:
    with receiver.connected() as connection:
        connection.sendall(PREFACE)
        until_closed(connection)
    assert takes(receiver)


def test_a_body_that_does_not_end_is_answered_and_closed(receiver: Receiver) -> None:
    with receiver.connected() as connection:
        connection.sendall(HEAD + b"\x0a")
        assert takes(receiver)
        assert read_answer(connection)[0] == 408
        assert until_closed(connection) == b""
    assert len(receiver.sink.bodies) == 1


@pytest.mark.parametrize("sent", [b"P", HEAD[:-2]])
def test_headers_that_do_not_end_are_cut_off(receiver: Receiver, sent: bytes) -> None:
    began = time.monotonic()
    with receiver.connected() as connection:
        connection.settimeout(0.1)
        answer = None
        connection.sendall(sent)
        while answer is None:
            try:
                answer = connection.recv(100)
            except TimeoutError:  # a header line that grows and grows
                connection.sendall(b"x")
            except OSError:
                answer = b""
    assert answer == b""
    assert time.monotonic() - began < 5
    assert takes(receiver)


def test_who_does_not_read_its_answers_holds_up_nobody(receiver: Receiver) -> None:
    refused = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with receiver.connected() as connection:
        connection.setblocking(False)
        try:
            for _ in range(2000):
                connection.sendall(refused * 200)
        except BlockingIOError:
            pass  # its answers fill every buffer on the way, and then its requests do
        assert takes(receiver)
