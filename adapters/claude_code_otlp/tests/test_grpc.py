"""OTLP over gRPC, with grpcio's own client."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from asz_claude_code_otlp.limits import MAX_REQUEST_BYTES
from asz_claude_code_otlp.signals import LOGS, METRICS, SIGNALS, TRACES, Signal
from asz_hookspecs import AdapterError, Busy, StorageFull

from .serving import Receiver, request

BODY = request()
Export = Callable[..., bytes]


@pytest.fixture
def channel(receiver: Receiver) -> Iterator[grpc.Channel]:
    """A connection of its own."""
    with grpc.insecure_channel(receiver.authority, [("grpc.use_local_subchannel_pool", 1)]) as made:
        yield made


def export_of(channel: grpc.Channel, signal: Signal = METRICS) -> Export:
    call = channel.unary_unary(f"/{signal.service}/Export")

    def export(body: bytes, compression: grpc.Compression | None = None) -> bytes:
        return call(body, timeout=30, compression=compression)  # type: ignore[no-any-return]

    return export


def refused(export: Export, body: bytes, compression: grpc.Compression | None = None) -> grpc.Call:
    with pytest.raises(grpc.RpcError) as caught:
        export(body, compression)
    assert isinstance(caught.value, grpc.Call)
    return caught.value


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_a_request_is_kept_byte_for_byte(
    receiver: Receiver, channel: grpc.Channel, compression: grpc.Compression | None
) -> None:
    odd = BODY + bytes((0xFA, 0x3E, 3)) + b"new"
    assert export_of(channel)(odd, compression) == b""
    assert receiver.sink.bodies == [odd]


@pytest.mark.parametrize("signal", [LOGS, TRACES], ids=lambda signal: signal.name)
def test_other_signals_are_accepted_and_dropped(
    receiver: Receiver, channel: grpc.Channel, signal: Signal
) -> None:
    assert export_of(channel, signal)(BODY) == b""
    assert receiver.sink.bodies == []


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
@pytest.mark.parametrize("body", [BODY[:-1], b"\x00", bytes((0xFA, 0x3E, 3)) + b"new"])
def test_what_is_no_request_is_refused(
    receiver: Receiver, channel: grpc.Channel, signal: Signal, body: bytes
) -> None:
    call = refused(export_of(channel, signal), body)
    assert call.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert receiver.sink.bodies == []


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip])
def test_what_is_too_large_is_refused(
    receiver: Receiver, channel: grpc.Channel, compression: grpc.Compression | None
) -> None:
    export = export_of(channel)
    call = refused(export, bytes(MAX_REQUEST_BYTES + 1), compression)
    assert call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert export(BODY) == b""
    assert receiver.sink.bodies == [BODY]


def test_other_methods_are_unknown(receiver: Receiver, channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/{METRICS.service}/Import")(BODY)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "code", "retry"),
    [
        (Busy("locked"), grpc.StatusCode.UNAVAILABLE, 1),
        (StorageFull("disk full"), grpc.StatusCode.UNAVAILABLE, 60),
        (AdapterError("refused"), grpc.StatusCode.INTERNAL, None),
        (ZeroDivisionError("a defect"), grpc.StatusCode.INTERNAL, None),
    ],
)
def test_what_cannot_be_kept_is_not_answered_as_kept(
    receiver: Receiver,
    channel: grpc.Channel,
    error: Exception,
    code: grpc.StatusCode,
    retry: int | None,
) -> None:
    receiver.sink.error = error
    call = refused(export_of(channel), BODY)
    assert call.code() is code
    details = dict(call.trailing_metadata())["grpc-status-details-bin"]
    assert isinstance(details, bytes)
    status = Status.FromString(details)
    assert status.code == code.value[0]
    assert [one.type_url for one in status.details] == (
        ["type.googleapis.com/google.rpc.RetryInfo"] if retry else []
    )
    if retry is not None:
        info = RetryInfo()
        status.details[0].Unpack(info)
        assert info.retry_delay.seconds == retry


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", "a@127.0.0.1"]
)
def test_another_authority_is_refused(receiver: Receiver, name: str) -> None:
    options = [("grpc.default_authority", name), ("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(receiver.authority, options) as channel:
        for _ in range(2):
            call = refused(export_of(channel), BODY)
            assert call.code() is grpc.StatusCode.PERMISSION_DENIED
            assert call.details() == "the authority does not name this receiver"
    assert receiver.sink.bodies == []


@pytest.mark.parametrize("name", ["localhost", "localhost:4317", "127.0.0.1", "[::1]:4317"])
def test_names_of_this_machine_are_accepted(receiver: Receiver, name: str) -> None:
    options = [("grpc.default_authority", name), ("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(receiver.authority, options) as channel:
        assert export_of(channel)(BODY) == b""


def test_sixty_four_connections_at_once(receiver: Receiver) -> None:
    bodies = [[request(f"m{number}.{turn}") for turn in range(5)] for number in range(64)]
    together = threading.Barrier(64)

    def send(mine: list[bytes]) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(receiver.authority, options) as channel:
            together.wait()
            export = export_of(channel)
            for body in mine:
                assert export(body) == b""

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(send, bodies))
    assert sorted(receiver.sink.bodies) == sorted(body for mine in bodies for body in mine)


def test_many_requests_at_once_on_one_connection(receiver: Receiver, channel: grpc.Channel) -> None:
    call = channel.unary_unary(f"/{METRICS.service}/Export")
    calls = [call.future(request(f"m{number}"), timeout=30) for number in range(90)]
    assert {one.result() for one in calls} == {b""}
    assert len(receiver.sink.bodies) == 90
