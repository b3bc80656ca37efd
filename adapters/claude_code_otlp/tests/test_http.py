"""OTLP over HTTP, with httpx and with bytes written by hand."""

import gzip
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from asz_claude_code_otlp.limits import MAX_REQUEST_BYTES
from asz_hookspecs import AdapterError, Busy, StorageFull

from .serving import PROTOBUF, Receiver, read_answer, request

BODY = request()
GZIP = {**PROTOBUF, "content-encoding": "gzip"}


@pytest.fixture
def client(receiver: Receiver) -> Iterator[httpx.Client]:
    """A client that keeps its connection."""
    with httpx.Client(base_url=receiver.url, timeout=20) as made:
        yield made


def status_of(answer: httpx.Response) -> Status:
    assert answer.headers["content-type"] == "application/x-protobuf"
    return Status.FromString(answer.content)


@pytest.mark.parametrize("headers", [PROTOBUF, {"content-type": "Application/X-Protobuf; v=1"}])
def test_a_request_is_kept_byte_for_byte(
    receiver: Receiver, client: httpx.Client, headers: dict[str, str]
) -> None:
    odd = BODY + bytes((0xFA, 0x3E, 3)) + b"new"  # a field of a later version, after the known ones
    answer = client.post("/v1/metrics", content=odd, headers=headers)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"
    assert receiver.sink.bodies == [odd]


@pytest.mark.parametrize("path", ["/v1/logs", "/v1/traces"])
def test_other_signals_are_accepted_and_dropped(
    receiver: Receiver, client: httpx.Client, path: str
) -> None:
    answer = client.post(path, content=BODY, headers=PROTOBUF)
    assert (answer.status_code, answer.content) == (200, b"")
    assert receiver.sink.bodies == []


def test_an_empty_request_is_taken_and_leaves_nothing(
    receiver: Receiver, client: httpx.Client
) -> None:
    assert client.post("/v1/metrics", headers=PROTOBUF).status_code == 200
    assert receiver.sink.bodies == []


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(BODY),
        gzip.compress(BODY[:9]) + gzip.compress(BODY[9:]),
        gzip.compress(BODY, compresslevel=0),
    ],
    ids=["one", "two members", "stored"],
)
def test_gzip_is_unpacked(receiver: Receiver, client: httpx.Client, packed: bytes) -> None:
    assert client.post("/v1/metrics", content=packed, headers=GZIP).status_code == 200
    assert receiver.sink.bodies == [BODY]


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "expected"),
    [
        ("POST", "/v1/metrics/", PROTOBUF, BODY, 404),
        ("POST", "/v1/metric", PROTOBUF, BODY, 404),
        ("GET", "/", {}, b"", 404),
        ("GET", "/v1/metrics", {}, b"", 405),
        ("PUT", "/v1/metrics", PROTOBUF, BODY, 405),
        ("OPTIONS", "/v1/metrics", {"origin": "http://evil.example"}, b"", 405),
        ("POST", "/v1/metrics", {"content-type": "text/plain"}, BODY, 415),
        ("POST", "/v1/metrics", {}, BODY, 415),
        ("POST", "/v1/metrics", {**PROTOBUF, "content-encoding": "zstd"}, BODY, 415),
        ("POST", "/v1/metrics", PROTOBUF, BODY[:-1], 400),
        ("POST", "/v1/metrics", PROTOBUF, b"\x00", 400),
        ("POST", "/v1/metrics", PROTOBUF, b'{"resourceMetrics":[]}', 400),
        ("POST", "/v1/metrics", PROTOBUF, bytes((0xFA, 0x3E, 3)) + b"new", 400),
        ("POST", "/v1/logs", PROTOBUF, b"\xff\xff", 400),
        ("POST", "/v1/metrics", GZIP, BODY, 400),
        ("POST", "/v1/metrics", GZIP, gzip.compress(BODY)[:-5], 400),
        ("POST", "/v1/metrics", GZIP, gzip.compress(BODY) + b"more", 400),
        ("POST", "/v1/metrics", GZIP, gzip.compress(BODY[:-1]), 400),
        ("POST", "/v1/metrics", PROTOBUF, bytes(MAX_REQUEST_BYTES + 1), 413),
        ("POST", "/v1/metrics", GZIP, gzip.compress(bytes(64 << 20)), 413),
        ("POST", "/v1/metrics", {**PROTOBUF, "host": "evil.example"}, BODY, 403),
        ("POST", "/v1/metrics", {**PROTOBUF, "host": "127.0.0.1.evil.example"}, BODY, 403),
    ],
)
def test_what_is_no_request_is_refused(
    receiver: Receiver,
    client: httpx.Client,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes,
    expected: int,
) -> None:
    answer = client.request(method, path, content=body, headers=headers)
    assert answer.status_code == expected
    status = status_of(answer)
    assert status.code
    assert status.message
    assert (answer.headers.get("allow") == "POST") is (expected == 405)
    assert receiver.sink.bodies == []
    good = client.post("/v1/metrics", content=BODY, headers=PROTOBUF)
    assert good.status_code == 200


def test_json_is_refused_in_json(receiver: Receiver, client: httpx.Client) -> None:
    answer = client.post("/v1/metrics", json={"resourceMetrics": []})
    assert answer.status_code == 415
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.content)["code"] == 3
    assert "http/protobuf" in json.loads(answer.content)["message"]
    assert receiver.sink.bodies == []


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:80", "[::1]"])
def test_names_of_this_machine_are_accepted(
    receiver: Receiver, client: httpx.Client, name: str
) -> None:
    headers = {**PROTOBUF, "host": name}
    assert client.post("/v1/metrics", content=BODY, headers=headers).status_code == 200


def test_the_largest_request_is_taken(receiver: Receiver, client: httpx.Client) -> None:
    body = request(padding=MAX_REQUEST_BYTES - 200)
    body = request(padding=MAX_REQUEST_BYTES - 200 + (MAX_REQUEST_BYTES - len(body)))
    assert len(body) == MAX_REQUEST_BYTES
    assert client.post("/v1/metrics", content=body, headers=PROTOBUF).status_code == 200
    packed = gzip.compress(body)
    assert client.post("/v1/metrics", content=packed, headers=GZIP).status_code == 200
    assert receiver.sink.bodies == [body, body]


def test_a_chunked_request_is_cut_off_by_size(receiver: Receiver, client: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(MAX_REQUEST_BYTES // 65536 + 1):
            yield bytes(65536)

    answer = client.post("/v1/metrics", content=pieces(), headers=PROTOBUF)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("error", "expected", "retry"),
    [
        (Busy("locked"), 503, "1"),
        (StorageFull("disk full"), 503, "60"),
        (AdapterError("refused"), 500, None),
        (ZeroDivisionError("a defect"), 500, None),
    ],
)
def test_what_cannot_be_kept_is_not_answered_as_kept(
    receiver: Receiver, client: httpx.Client, error: Exception, expected: int, retry: str | None
) -> None:
    receiver.sink.error = error
    answer = client.post("/v1/metrics", content=BODY, headers=PROTOBUF)
    assert answer.status_code == expected
    assert answer.headers.get("retry-after") == retry
    status = status_of(answer)
    assert bool(status.details) is (retry is not None)
    if retry is not None:
        info = RetryInfo()
        assert status.details[0].Unpack(info)
        assert info.retry_delay.seconds == int(retry)
    receiver.sink.error = None
    assert client.post("/v1/metrics", content=BODY, headers=PROTOBUF).status_code == 200


def test_more_than_the_memory_allows_is_put_off(receiver: Receiver) -> None:
    receiver.sink.gate = threading.Event()
    body = request(padding=MAX_REQUEST_BYTES - 300)

    def post(_number: int) -> int:
        with httpx.Client(base_url=receiver.url, timeout=60) as client:
            answer = client.post("/v1/metrics", content=body, headers=PROTOBUF)
            receiver.sink.gate.set() if answer.status_code == 503 else None  # type: ignore[union-attr]
            return answer.status_code

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(post, range(20)))
    assert set(answers) == {200, 503}
    assert receiver.sink.bodies == [body] * answers.count(200)


def test_sixty_four_connections_at_once(receiver: Receiver) -> None:
    bodies = [[request(f"m{number}.{turn}") for turn in range(5)] for number in range(64)]
    together = threading.Barrier(64)

    def post(mine: list[bytes]) -> set[int]:
        together.wait()
        with httpx.Client(base_url=receiver.url, timeout=60) as client:
            return {
                client.post("/v1/metrics", content=b, headers=PROTOBUF).status_code for b in mine
            }

    with ThreadPoolExecutor(64) as pool:
        assert set().union(*pool.map(post, bodies)) == {200}
    assert sorted(receiver.sink.bodies) == sorted(body for mine in bodies for body in mine)


# ---------------------------------------------------------------- bytes on the wire


def posted(body: bytes, *lines: str) -> bytes:
    head = ["POST /v1/metrics HTTP/1.1", "Host: localhost", "Content-Type: application/x-protobuf"]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", *lines, "", ""]).encode() + body


def test_pipelined_requests_are_answered_in_order(receiver: Receiver) -> None:
    first, second, third = (request(name) for name in ("one", "two", "three"))
    with receiver.connected() as connection:
        connection.sendall(posted(first) + posted(b"\xff") + posted(second) + posted(third))
        answers = [read_answer(connection)[0] for _ in range(4)]
    assert answers == [200, 400, 200, 200]
    assert receiver.sink.bodies == [first, second, third]


def test_a_request_in_single_bytes_is_put_together(receiver: Receiver) -> None:
    with receiver.connected() as connection:
        for byte in posted(BODY):
            connection.sendall(bytes((byte,)))
        assert read_answer(connection)[0] == 200
    assert receiver.sink.bodies == [BODY]


def test_a_peer_that_only_ends_its_own_side_is_answered(receiver: Receiver) -> None:
    with receiver.connected() as connection:
        connection.sendall(posted(BODY) + posted(BODY))
        connection.shutdown(1)
        assert [read_answer(connection)[0] for _ in range(2)] == [200, 200]
        assert connection.recv(1) == b""


def test_what_a_peer_wants_to_send_is_asked_for(receiver: Receiver) -> None:
    head, body = posted(BODY, "Expect: 100-continue").split(b"\r\n\r\n", 1)
    with receiver.connected() as connection:
        connection.sendall(head + b"\r\n\r\n")
        asked = b""
        while not asked.endswith(b"\r\n\r\n"):
            asked += connection.recv(1)
        assert asked.startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert read_answer(connection)[0] == 200


def test_a_peer_that_leaves_in_the_middle_leaves_nothing(receiver: Receiver) -> None:
    with receiver.connected() as connection:
        connection.sendall(posted(BODY)[:-3])
    with receiver.connected() as connection:
        connection.sendall(posted(BODY))
        assert read_answer(connection)[0] == 200
    assert receiver.sink.bodies == [BODY]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST /v1/metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300),
        b"PRI * HTTP/1.1\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n",
        posted(BODY, "Transfer-Encoding: chunked"),
        bytes(100),
    ],
    ids=["no host", "two hosts", "tls", "nearly http2", "endless", "smuggling", "zeros"],
)
def test_what_is_not_http_is_closed(receiver: Receiver, sent: bytes) -> None:
    with receiver.connected() as connection:
        connection.sendall(sent)
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")
    assert receiver.sink.bodies == []
