"""Requests: as many log records as fit, or one request of the spool under asz's identity."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import ScopeLogs

from asz import __version__
from asz.errors import FormatError
from asz.export.records import Entry, Identity

_FRAME: Final = 6
"""Bytes that hold a message inside another, at most, below 4 GiB: a tag and its length."""


class Batch:
    """Records for one request, in order."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._size = 0
        self.entries: list[Entry] = []

    def fits(self, entry: Entry, limit: int) -> bool:
        """Whether the request stays at ``limit`` bytes with one more record; an empty one takes any."""
        return not self.entries or self._size + self._grows(entry) <= limit

    def add(self, entry: Entry) -> None:
        """Add one more record."""
        self._size += self._grows(entry)
        self.entries.append(entry)

    def _grows(self, entry: Entry) -> int:
        grows = entry.record.ByteSize() + _FRAME
        if not self.entries or self.entries[-1].runtime != entry.runtime:
            empty = encode_logs([], self._identity, entry.runtime)
            grows += len(empty) + 2 * _FRAME
        return grows


def encode_logs(entries: Iterable[Entry], identity: Identity, runtime: str | None = None) -> bytes:
    """A request with these records; neighbours of one runtime share a resource.

    :param runtime: encode the frame of an empty request for this runtime instead.
    """
    request = ExportLogsServiceRequest()
    if runtime is not None:
        _frame(request, identity, runtime)
    for name, group in groupby(entries, lambda entry: entry.runtime):
        _frame(request, identity, name).log_records.extend(entry.record for entry in group)
    return request.SerializeToString(deterministic=True)


def _frame(request: ExportLogsServiceRequest, identity: Identity, runtime: str) -> ScopeLogs:
    """One more resource in a request, and the place for its records."""
    logs = request.resource_logs.add(resource=identity.resource(runtime))
    scope = InstrumentationScope(name="asz", version=__version__)
    return logs.scope_logs.add(scope=scope)


def encode_metrics(
    path: str, data: bytes, identity: Identity, runtime_of: Callable[[str], str]
) -> bytes:
    """A request of the spool with asz's resource in place of each of its own; the same bytes each time.

    :param path: named in messages.
    :param runtime_of: display name of the runtime that calls its service so.
    :raises FormatError: it is not a metrics request.
    """
    try:
        request = ExportMetricsServiceRequest.FromString(data)
    except DecodeError as error:
        raise FormatError(f"{path}: not an OTLP metrics request") from error
    for metrics in request.resource_metrics:
        service = next(
            (a.value.string_value for a in metrics.resource.attributes if a.key == "service.name"),
            "",
        )
        metrics.resource.CopyFrom(identity.resource(runtime_of(service)))
    return request.SerializeToString(deterministic=True)
