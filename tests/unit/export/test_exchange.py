"""What a receiver's bytes are read as; they may be anything."""

from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceResponse,
)

from asz.export.exchange import (
    LONGEST_MESSAGE,
    Signal,
    Taken,
    read_response,
    read_status,
    shortened,
)


@given(body=st.binary(max_size=60))
def test_any_bytes_are_a_response_or_none(body: bytes) -> None:
    for signal in Signal:
        found = read_response(signal, body)
        assert found is None or found.rejected >= 0


@given(body=st.binary(max_size=60))
def test_any_bytes_are_a_status_or_nothing(body: bytes) -> None:
    message, seconds = read_status(body)
    assert len(message) <= LONGEST_MESSAGE
    assert seconds is None or seconds >= 0


def test_rejections_below_zero_are_none() -> None:
    partial = ExportLogsPartialSuccess(rejected_log_records=-4, error_message=" a \n b ")
    body = ExportLogsServiceResponse(partial_success=partial).SerializeToString()
    assert read_response(Signal.LOGS, body) == Taken(0, "a b")


def test_the_delay_is_found_among_other_details() -> None:
    details = [
        Any(),
        Any(),
        Any(type_url="type.googleapis.com/google.rpc.RetryInfo", value=b"\xff"),
    ]
    details[0].Pack(ErrorInfo(reason="QUOTA"))
    details[1].Pack(RetryInfo(retry_delay=Duration(seconds=2, nanos=500_000_000)))
    status = Status(message="slow down", details=[details[2], *details[:2]])
    assert read_status(status.SerializeToString()) == ("slow down", 2.5)


def test_long_words_are_cut() -> None:
    assert shortened("x" * LONGEST_MESSAGE) == "x" * LONGEST_MESSAGE
    assert len(shortened("x" * 1000)) == LONGEST_MESSAGE
