"""Connections that are not what they should be: each costs one clear line, and nothing counts as sent."""

import socket
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import grpc
import pytest
import trustme

from ..support.otlp import Listening, Page, Reply, grpc_receiver, http_receiver
from ..support.pushing import FakeClock, Place, pusher

PROTOBUF = (b"content-type", b"application/x-protobuf")
HTML = (b"content-type", b"text/html; charset=utf-8")


def failed(place: Place, listening: Listening, **otlp: object) -> str:
    """The one line a push that takes nothing ends in."""
    outcome = place.push(listening, **otlp)
    assert outcome.status == 1
    (line,) = outcome.err.splitlines()
    assert (outcome.counts["files"], outcome.counts["metrics"]) == (0, 0)
    assert outcome.counts["pending"] == len(place.files()) + 3
    return line


# ---------------------------------------------------------------- HTTP


@pytest.mark.parametrize(
    "page",
    [Page(200), Page(204), Page(200, (PROTOBUF,)), Page(202, (HTML,))],
    ids=["nothing", "no content", "empty protobuf", "empty"],
)
def test_success_without_a_body_is_taken(page: Page, place: Place) -> None:
    with http_receiver(deque([page] * 4)) as listening:
        assert place.push(listening).status == 0


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (Page(200, (HTML,), b"<html>log in</html>"), "text/html"),
        (Page(200, ((b"content-type", b"application/json"),), b"{}"), "application/json"),
        (Page(200, (), b"<html>log in</html>"), "no OTLP response"),
        (Page(200, (PROTOBUF,), b"x" * (3 << 20)), "is it an OTLP receiver"),
        (Page(200, (PROTOBUF,), b"\xff\xff"), "application/x-protobuf"),
        (Page(302, ((b"location", b"/login"),)), "redirecting to /login"),
        (Page(307, ((b"location", b"https://example.org/v1/logs"),)), "redirects are not followed"),
        (Page(404, (HTML,), b"<html>"), "answered 404"),
        (Page(405), "answered 405"),
    ],
)
def test_what_is_no_answer_of_a_receiver_is_not_taken(page: Page, words: str, place: Place) -> None:
    with http_receiver(deque([page] * 2)) as listening:
        outcome = place.push(listening)
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    assert len(lines) == 2  # one for each signal
    assert all(words in line for line in lines)
    assert outcome.counts["pending"] == len(place.files()) + 3


@pytest.mark.parametrize("status", [401, 403, 502, 503, 504])
def test_what_is_about_the_receiver_ends_the_pass(status: int, place: Place) -> None:
    with http_receiver(deque([Page(status)])) as listening:
        assert f"answered {status}" in failed(place, listening)


def test_a_retry_after_is_a_date_as_well(place: Place) -> None:
    date = (b"retry-after", b"Fri, 31 Dec 9999 23:59:59 GMT")
    with http_receiver(deque([Page(503, (date,))])) as listening:
        made = pusher(place, listening, FakeClock()).run()
    assert made.wait == 86_400


@pytest.mark.parametrize("value", [b"soon", b"-5", b"Fri, 99 Foo 9999"])
def test_a_retry_after_that_says_nothing_ends_the_pass_only(value: bytes, place: Place) -> None:
    with http_receiver(deque([Page(429, ((b"retry-after", value),))])) as listening:
        assert "takes nothing more now" in failed(place, listening)
        assert place.push(listening).status == 0


def test_the_path_of_an_address_comes_before_that_of_the_signal(place: Place) -> None:
    with http_receiver() as listening:
        below = Listening(listening.inbox, f"{listening.endpoint}/otlp/", "http")
        assert place.push(below).status == 0
        paths = {request.headers[":path"] for request in listening.inbox.requests}
        assert paths == {"/otlp/v1/logs", "/otlp/v1/metrics"}


# ---------------------------------------------------------------- no connection


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_refused_connection(protocol: str, place: Place) -> None:
    where = f"127.0.0.1:{free_port()}"
    line = failed(place, Listening(None, where, protocol))  # type: ignore[arg-type]
    assert f"{where} cannot be reached: " in line
    assert "Connection refused" in line
    assert "ipv4:" not in line


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_host_that_does_not_exist(protocol: str, place: Place) -> None:
    line = failed(
        place,
        Listening(None, "no-such-host.invalid:4317", protocol),  # type: ignore[arg-type]
        insecure=True,
    )
    assert "no-such-host.invalid:4317 " in line


def test_a_receiver_that_does_not_answer(place: Place, receiver: Listening) -> None:
    receiver.inbox.silent = True
    made = pusher(place, receiver, FakeClock(), timeout=0.2).run()
    (line,) = made.problems
    assert "did not answer within 0.2 seconds" in line
    assert made.counts.pending == len(place.files()) + 3
    receiver.inbox.over.set()
    receiver.inbox.silent = False
    assert pusher(place, receiver, FakeClock()).run().clean


def test_the_other_protocol_at_the_port(place: Place) -> None:
    with grpc_receiver() as listening:
        failed(place, Listening(listening.inbox, listening.endpoint, "http"))
    with http_receiver() as listening:
        where = listening.endpoint.removeprefix("http://")
        failed(place, Listening(listening.inbox, where, "grpc"))


# ---------------------------------------------------------------- TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@contextmanager
def over_tls(protocol: str, authority: trustme.CA, home: Path):  # type: ignore[no-untyped-def]
    certificate = authority.issue_cert("127.0.0.1")
    chain = b"".join(pem.bytes() for pem in certificate.cert_chain_pems)
    if protocol == "grpc":
        pair = (certificate.private_key_pem.bytes(), chain)
        with grpc_receiver(grpc.ssl_server_credentials([pair])) as listening:
            yield listening
        return
    key, file = home / "key.pem", home / "chain.pem"
    key.write_bytes(certificate.private_key_pem.bytes())
    file.write_bytes(chain)
    with http_receiver(ssl_keyfile=str(key), ssl_certfile=str(file)) as listening:
        yield listening


Secure = Callable[[str, trustme.CA, Path], AbstractContextManager[Listening]]


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_over_tls(protocol: str, authority: trustme.CA, place: Place) -> None:
    file = place.home / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    with over_tls(protocol, authority, place.home) as listening:
        outcome = place.push(listening, tls=True, ca_file="ca.pem")
        assert (outcome.status, outcome.err) == (0, "")
        assert sorted(listening.inbox.paths()) == place.files()


@pytest.mark.parametrize("protocol", ["grpc", "http"])
@pytest.mark.parametrize("known", [True, False], ids=["another authority", "none named"])
def test_a_certificate_that_is_not_trusted(
    protocol: str, known: bool, authority: trustme.CA, place: Place
) -> None:
    named = {}
    if known:
        trustme.CA().cert_pem.write_to_path(str(place.home / "ca.pem"))
        named = {"ca_file": "ca.pem"}
    with over_tls(protocol, authority, place.home) as listening:
        line = failed(place, listening, tls=True, **named)
        assert listening.inbox.requests == []
    assert "CERTIFICATE_VERIFY_FAILED" in line


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_tls_where_none_is_spoken(protocol: str, place: Place) -> None:
    with grpc_receiver() as listening:
        failed(place, Listening(listening.inbox, listening.endpoint, protocol), tls=True)


# ---------------------------------------------------------------- what is printed


def test_words_of_a_receiver_cannot_move_the_cursor(place: Place, receiver: Listening) -> None:
    receiver.inbox.replies += [Reply("wrong", message="a\x1b[2Jb\u202ec" + "x" * 1000)]
    outcome = place.push(receiver, metrics=False)
    assert "\x1b" not in outcome.err
    assert "\u202e" not in outcome.err
    assert len(outcome.err) < 600
