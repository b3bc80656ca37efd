"""How the receiver begins and ends."""

import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import httpx
import pytest

from asz_claude_code_otlp.inner import inner_endpoints
from asz_claude_code_otlp.signals import METRICS
from asz_hookspecs import AdapterError

from .serving import PROTOBUF, Receiver, request


def post(receiver: Receiver, body: bytes) -> int:
    """Status of one request; 0 when there is no answer."""
    try:
        answer = httpx.post(
            f"{receiver.url}/v1/metrics", content=body, headers=PROTOBUF, timeout=20
        )
    except httpx.TransportError:
        return 0
    return answer.status_code


def test_a_port_that_is_taken_is_named() -> None:
    receiver = Receiver()
    taken = socket.create_server(("127.0.0.1", receiver.port))
    with taken, pytest.raises(AdapterError) as caught, receiver:
        pass
    message = (
        f"listen: {receiver.authority}: in use by another process, perhaps another asz collect"
    )
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("listen", ["192.0.2.1:4317", "no.such.host.invalid:4317"])
def test_an_address_of_another_machine_is_named(listen: str) -> None:
    receiver = Receiver(listen=listen, allow_remote=True)
    with pytest.raises(AdapterError) as caught, receiver:
        pass
    assert str(caught.value).startswith(f"listen: {listen}: ")


def test_the_port_is_free_again_at_once() -> None:
    receiver = Receiver()
    with receiver:
        assert post(receiver, request()) == 200
    with socket.create_server(("127.0.0.1", receiver.port)):
        pass


def test_a_start_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    receiver = Receiver()
    with receiver:
        (place,) = tmp_path.iterdir()
        assert place.stat().st_mode & 0o777 == 0o700
        with pytest.raises(AdapterError), _again(receiver):
            pass
        assert list(tmp_path.iterdir()) == [place]
    assert list(tmp_path.iterdir()) == []


def _again(receiver: Receiver) -> Receiver:
    return Receiver(listen=receiver.authority)


def test_localhost_is_both_of_its_addresses() -> None:
    with Receiver("localhost") as receiver:
        answered = []
        for address in ("127.0.0.1", "::1"):
            try:
                socket.create_connection((address, receiver.port)).close()
            except OSError:
                continue
            host = f"[{address}]" if ":" in address else address
            url = f"http://{host}:{receiver.port}/v1/metrics"
            answered.append(httpx.post(url, content=request(), headers=PROTOBUF).status_code)
    assert set(answered) == {200}


def test_what_is_at_hand_when_it_ends_is_answered_and_kept() -> None:
    receiver = Receiver()
    receiver.sink.gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        with receiver:
            answer = pool.submit(post, receiver, request())
            assert receiver.sink.waiting.wait(20)
            threading.Timer(0.1, receiver.sink.gate.set).start()
        assert answer.result() == 200
    assert receiver.sink.bodies == [request()]


def test_it_ends_within_a_second_whatever_is_at_hand() -> None:
    receiver = Receiver()
    receiver.sink.gate = threading.Event()
    idle = []
    with ThreadPoolExecutor(2) as pool:
        channel = grpc.insecure_channel(receiver.authority)
        with receiver:
            idle += [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(10)]
            for connection in idle[:5]:
                connection.sendall(b"POST /v1/metrics HTTP/1.1\r\n")
            answer = pool.submit(post, receiver, request())
            call = channel.unary_unary(f"/{METRICS.service}/Export").future(request())
            assert receiver.sink.waiting.wait(20)
            began = time.monotonic()
            receiver.leave()
            took = time.monotonic() - began
            receiver.sink.gate.set()
        assert answer.result() == 0
        assert call.code() is not grpc.StatusCode.OK
        channel.close()
    for connection in idle:
        connection.close()
    assert took < 1.0


def test_under_load_whatever_was_answered_is_kept() -> None:
    receiver = Receiver()
    answered: list[bytes] = []
    busy = threading.Event()

    def send(number: int) -> None:
        with httpx.Client(base_url=receiver.url, timeout=20) as client:
            for turn in range(10_000):
                body = request(f"m{number}.{turn}")
                try:
                    if (
                        client.post("/v1/metrics", content=body, headers=PROTOBUF).status_code
                        != 200
                    ):
                        return
                except httpx.TransportError:
                    return
                answered.append(body)
                if len(answered) > 100:
                    busy.set()

    with ThreadPoolExecutor(8) as pool:
        with receiver:
            sending = [pool.submit(send, number) for number in range(8)]
            assert busy.wait(20)
        for one in sending:
            one.result()
    assert set(answered) <= set(receiver.sink.bodies)
    assert len(receiver.sink.bodies) <= len(answered) + 8


def test_listening_for_other_machines_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    receiver = Receiver("0.0.0.0", allow_remote=True)
    receiver.url = f"http://127.0.0.1:{receiver.port}"
    with receiver:
        assert post(receiver, request()) == 200
        headers = {**PROTOBUF, "host": "192.0.2.7:4317"}
        url = f"{receiver.url}/v1/metrics"
        assert httpx.post(url, content=request(), headers=headers).status_code == 200
        headers["host"] = "evil.example"
        assert httpx.post(url, content=request(), headers=headers).status_code == 403
    (warning,) = caplog.messages
    assert "other machines can reach this" in warning


@pytest.mark.parametrize("unix", [True, False])
def test_inner_endpoints_are_private_and_go_away(unix: bool) -> None:
    with inner_endpoints(unix=unix) as inners:
        assert inners.http_socket.getsockname() == (
            inners.http.path if unix else ("127.0.0.1", inners.http.port)
        )
        assert (inners.grpc_address.startswith("unix:")) is unix
        assert inners.http != inners.grpc
        if unix:
            assert os.stat(Path(inners.http.path).parent).st_mode & 0o777 == 0o700
    assert not inners.http.path or not Path(inners.http.path).exists()


def test_a_temporary_directory_with_a_long_name_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ("x" * 120)
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with Receiver() as receiver:
        assert post(receiver, request()) == 200
    assert list(place.iterdir()) == []
