"""Landed files and rounds as OTLP log records, and the identity they leave under.

The body of a record is the file's text, so that a receiver can put every file back where it was.
"""

import getpass
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from asz import __version__
from asz.errors import FormatError
from asz.export.inventory import Item, sha256
from asz.flow import sf
from asz.flow.chain import round_names
from asz.storage.landed import landed_names
from asz.storage.root import Root
from asz.storage.sd import decode_file, read_header
from asz.storage.times import format_ns, parse_ns

UNKNOWN_SERVICE: Final = "asz"
"""Whose a file is that names no runtime."""

Value = str | int | None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who sends."""

    service_name: str
    """Empty: the runtime's display name."""
    instance_id: str
    layer: str

    def resource(self, runtime: str) -> Resource:
        """The resource of everything that comes from one runtime."""
        return Resource(
            attributes=attributes(
                {
                    "service.name": self.service_name or runtime or UNKNOWN_SERVICE,
                    "service.instance.id": self.instance_id or this_instance(),
                    "service.layer": self.layer or None,
                    "telemetry.sdk.name": "asz",
                    "telemetry.sdk.version": __version__,
                    "telemetry.sdk.language": "python",
                }
            )
        )


def this_instance() -> str:
    """``user@host``."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # nobody this system has a name for
        user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return f"{user}@{socket.gethostname()}"


def attributes(values: dict[str, Value]) -> list[KeyValue]:
    """Attributes in the order given, without those that have no value."""
    return [
        KeyValue(
            key=key,
            value=AnyValue(int_value=value)
            if isinstance(value, int)
            else AnyValue(string_value=value),
        )
        for key, value in values.items()
        if value is not None
    ]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, read and ready to be sent."""

    item: Item
    digest: str
    """SHA-256 of its bytes."""
    runtime: str
    """Display name; empty when the file does not say."""
    record: LogRecord


class _Timed(msgspec.Struct):
    """What is read of a landed record."""

    time: str | None = None


_TIMED: Final = msgspec.json.Decoder(_Timed)


class SessionRecords:
    """Makes the records of one session's files."""

    def __init__(self, root: Root, session: str, observed_ns: int) -> None:
        self._root = root
        self._session = session
        self._observed_ns = observed_ns
        self._latest: int | None = None

    def entry(self, item: Item, data: bytes) -> Entry:
        """A file as a record.

        :param data: its bytes, whole.
        :raises FormatError: they are not what the file's format says.
        """
        path = self._root.path / item.path
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: not UTF-8 at byte {error.start}") from error
        made = self._landed if item.format == "sd" else self._round
        digest, runtime, at, values = made(path, data)
        own: dict[str, Value] = {
            "asz.format": item.format,
            "asz.format.version": "1",
            "asz.file": item.path,
            "asz.file.kind": values.pop("asz.file.kind"),
            "asz.file.digest": digest,
            "asz.lines": data.count(b"\n"),
            "asz.session": values.pop("asz.session"),
        }
        record = LogRecord(
            time_unix_nano=max(at, 0),  # the field holds nothing before 1970
            observed_time_unix_nano=self._observed_ns,
            body=AnyValue(string_value=text),
            attributes=attributes({**own, **values}),
        )
        return Entry(item, digest, runtime, record)

    def _landed(self, path: Path, data: bytes) -> tuple[str, str, int, dict[str, Value]]:
        file = decode_file(path, data)
        header = file.header
        times = _times(path, data)
        values: dict[str, Value] = {
            "asz.file.kind": header.kind,
            "asz.session": header.session,
            "asz.from_time": format_ns(min(times)) if times else None,
            "asz.through_time": format_ns(max(times)) if times else None,
            "asz.seq": header.seq,
            "asz.stream": header.stream,
            "asz.run": header.batch,
        }
        at = max(times) if times else self._session_latest()
        return file.digest, header.runtime, at, values

    def _round(self, path: Path, data: bytes) -> tuple[str, str, int, dict[str, Value]]:
        header = sf.decode_round(path, data).header
        values: dict[str, Value] = {
            "asz.file.kind": "round",
            "asz.session": header.session,
            "asz.from_time": header.from_time,
            "asz.through_time": header.through_time,
            "asz.conversation": header.conversation,
            "asz.round": header.round,
            "asz.session.from_time": header.session_from_time,
            "asz.session.through_time": header.session_through_time,
            "asz.conversation.title": header.title,
            "asz.conversation.talks": header.talks,
            "asz.conversation.steps": header.steps,
            "asz.conversation.streams": header.streams,
            "asz.conversation.segments": header.segments,
            "asz.conversation.unresolved": header.unresolved,
        }
        at = parse_ns(header.session_through_time or "") or 0
        return sha256(data), self._runtime(header.session), at, values

    def _runtime(self, session: str) -> str:
        """Whose a session is: what its first landed file says."""
        directory = self._root.session_dir(session)
        for landed in landed_names(directory):
            try:
                return read_header(directory / landed.path).runtime
            except FormatError:
                continue
        return ""

    def _session_latest(self) -> int:
        """The latest record time of the session; 0 when no record of it has one."""
        if self._latest is None:
            self._latest = session_latest(self._root, self._session)
        return self._latest


def session_latest(root: Root, session: str) -> int:
    """The latest record time of a session, nanoseconds since the epoch; 0 when no record has one.

    The head of its chain knows it of all that the chain covers; only what landed since is read.
    """
    latest, covered = 0, 0
    rounds = round_names(root.conversation_dir(session))
    if rounds:
        try:
            header = sf.read_header(rounds[-1].path)
        except FormatError:
            pass
        else:
            latest = parse_ns(header.session_through_time or "") or 0
            covered = header.through_seq
    directory = root.session_dir(session)
    for landed in landed_names(directory):
        if landed.seq > covered:
            path = directory / landed.path
            try:
                data = path.read_bytes()
                decode_file(path, data)
                latest = max(latest, *_times(path, data), 0)
            except (FormatError, OSError):  # told when its turn comes
                continue
    return latest


def _times(path: Path, data: bytes) -> list[int]:
    """Every record time of a landed file that holds together.

    :raises FormatError: a line is no record.
    """
    records = memoryview(data)[data.index(b"\n") + 1 : data.rindex(b"\n", 0, -1) + 1]
    try:
        stated = [record.time for record in _TIMED.decode_lines(records)]
    except msgspec.DecodeError as error:
        raise FormatError(f"{path}: a line is no record: {error}") from error
    return [ns for text in stated if text is not None and (ns := parse_ns(text)) is not None]
