"""An answer that is no success, in the words of both transports."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

INVALID_ARGUMENT: Final = 3
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
DEADLINE_EXCEEDED: Final = 4
"""Codes of ``google.rpc.Code``, which are gRPC's."""


@dataclass(eq=False)
class Refusal(Exception):  # noqa: N818 - an answer, not a failure of the receiver
    """Why a request was not taken, and whether to send it again."""

    code: int
    http: HTTPStatus
    message: str
    retry_seconds: int | None = None
    """When to send it again; ``None``: not at all."""
    headers: tuple[tuple[str, str], ...] = field(default=())
    """Further HTTP headers."""

    @property
    def status(self) -> Status:
        """The ``Status`` that OTLP wants in the body, or with the trailers."""
        status = Status(code=self.code, message=self.message)
        if self.retry_seconds is not None:
            detail = Any()
            detail.Pack(RetryInfo(retry_delay=Duration(seconds=self.retry_seconds)))
            status.details.append(detail)
        return status


def malformed(message: str) -> Refusal:
    """The request is not what it says it is; sending it again would not help."""
    return Refusal(INVALID_ARGUMENT, HTTPStatus.BAD_REQUEST, message)


def too_large(message: str) -> Refusal:
    """Over a limit. The connection stays open: closed while the peer still sends, it would lose this
    answer."""
    return Refusal(RESOURCE_EXHAUSTED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)


def unavailable(message: str, retry_seconds: int) -> Refusal:
    """Not now: the peer keeps what it has and sends it again."""
    return Refusal(UNAVAILABLE, HTTPStatus.SERVICE_UNAVAILABLE, message, retry_seconds)
