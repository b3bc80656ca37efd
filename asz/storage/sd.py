"""Session Data, ``sd/1``: the landed format. One header line, one line a record, one closing line.

The format is public (docs/session-data.md). Keys are fixed and ordered; a reader ignores keys it
does not know. Bytes of the source's own JSON are embedded as they stand.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from asz.errors import FormatError
from asz.storage.files import read_first_line, read_whole

SCHEMA: Final = "sd/1"
SHA_DIGITS: Final = 12
"""Hex digits of a record's digest that are written."""

FILE_KINDS: Final = {
    "transcript": "transcript",
    "agent_meta": "meta",
    "journal": "journal",
    "workflow_manifest": "manifest",
    "workflow_script": "script",
    "changes": "changes",
}
"""Header kind to the word a file name starts with."""

FILE_NAME: Final = re.compile(
    r"^(?P<word>transcript|changes|meta|journal|manifest|script)"
    r"-(?P<stamp>\d{8}T\d{6}\.\d{9}Z)-(?P<seq>\d{6,})\.sd$"
)


NO_DATA: Final = msgspec.Raw()
"""The data of a part that has none."""


# ---------------------------------------------------------------- what a reader gets


class Header(msgspec.Struct, kw_only=True, omit_defaults=True):
    """First line of a landed file. ``at`` is the pass's stamp, RFC 3339 with nanoseconds.

    asz writes every key; of one from elsewhere a reader insists only on those without a default.
    """

    h: int
    schema: str
    seq: int = 0
    at: str = ""
    kind: str
    adapter: str = ""
    dialect: str
    runtime: str = ""
    src: str
    session: str
    stream: str | None = None
    batch: str | None = None
    gen: int | None = None


class LandedUsage(
    msgspec.Struct, omit_defaults=True, gc=False, rename={"input": "in", "output": "out"}
):
    """Token counts; zero when left out."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class LandedPart(msgspec.Struct, omit_defaults=True, gc=False, rename={"size": "bytes"}):
    """One part as landed, its keys in the order of the format. ``data`` is the raw JSON."""

    k: str
    id: str | None = None
    name: str | None = None
    of: str | None = None
    failed: bool | None = None
    media: str | None = None
    text: str | None = None
    encoding: str | None = None
    data: msgspec.Raw = NO_DATA
    state: str = ""
    """Never left out, and neither is the size: their defaults stand in no file."""
    size: int = -1


class LandedDropped(msgspec.Struct, gc=False, rename={"size": "bytes"}):
    """Something understood and left out."""

    what: str
    size: int
    why: str


class LandedRecord(
    msgspec.Struct, omit_defaults=True, gc=False, rename={"from_": "from", "size": "bytes"}
):
    """One record as landed, its keys in the order of the format."""

    ord: int
    off: int
    sha: str
    size: int
    rev: int | None = None
    id: str | None = None
    parent: str | None = None
    call: str | None = None
    run: str | None = None
    continues: str | None = None
    tool: str | None = None
    child: str | None = None
    batch: str | None = None
    started_by: str | None = None
    label: str | None = None
    from_: str | None = None
    time: str | None = None
    trigger: str | None = None
    flags: tuple[str, ...] = ()
    model: str | None = None
    usage: LandedUsage | None = None
    request: str | None = None
    env: dict[str, Any] | None = None
    parts: list[LandedPart] = []
    dropped: list[LandedDropped] = []


class Closing(msgspec.Struct, tag_field="t", tag="end"):
    """Last line: how many records, and the SHA-256 of every byte before this line."""

    records: int
    digest: str


_HEADER = msgspec.json.Decoder(Header)
_RECORD = msgspec.json.Decoder(LandedRecord)
_CLOSING = msgspec.json.Decoder(Closing)


@dataclass(frozen=True, slots=True)
class SdFile:
    """A landed file that was read whole and whose count and digest hold."""

    path: Path
    header: Header
    lines: list[bytes]
    """One raw JSON line a record, without line end; row ``n`` is ``lines[n - 1]``."""

    digest: str
    """SHA-256 of the whole file, closing line included."""

    def records(self) -> Iterator[LandedRecord]:
        """Every record, decoded.

        :raises FormatError: a line is not a record.
        """
        for row, line in enumerate(self.lines, 1):
            try:
                yield _RECORD.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise FormatError(f"{self.path}: row {row}: {error}") from error


def read_header(path: Path) -> Header:
    """The header of a landed file; its digest is not checked.

    :raises FormatError: there is no header, or one a reader must refuse.
    """
    return _header(path, read_first_line(path))


def read_file(path: Path) -> SdFile:
    """A landed file, whole.

    :raises FormatError: it cannot be read, or header, closing line, count or digest are not right.
    """
    return decode_file(path, read_whole(path))


def decode_file(path: Path, data: bytes) -> SdFile:
    """A landed file from its bytes.

    :param path: named in messages.
    :raises FormatError: as ``read_file``.
    """
    if not data.endswith(b"\n"):
        raise FormatError(f"{path}: no closing line, the file is cut")
    lines = data[:-1].split(b"\n")
    header = _header(path, lines[0])
    try:
        closing = _CLOSING.decode(lines[-1])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: no closing line, the file is cut") from error
    if closing.records != len(lines) - 2:
        raise FormatError(
            f"{path}: closing line counts {closing.records} records, file holds {len(lines) - 2}"
        )
    end = len(data) - len(lines[-1]) - 1
    total = hashlib.sha256(memoryview(data)[:end])
    if closing.digest != total.hexdigest():
        raise FormatError(f"{path}: digest does not match, the file was changed")
    total.update(memoryview(data)[end:])
    return SdFile(path, header, lines[1:-1], total.hexdigest())


def _header(path: Path, line: bytes) -> Header:
    try:
        header = _HEADER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: no sd/1 header: {error}") from error
    if header.h != 1 or header.schema != SCHEMA:
        raise FormatError(f"{path}: not an {SCHEMA} file but {header.schema!r} h={header.h}")
    if not (header.kind and header.session and header.src and header.dialect):
        raise FormatError(f"{path}: header lacks kind, session, src or dialect")
    return header


# ---------------------------------------------------------------- what a writer does


def encode_header(header: Header) -> bytes:
    """The header line, line end included."""
    return msgspec.json.encode(header) + b"\n"


def encode_closing(records: int, digest: str) -> bytes:
    """The closing line, line end included. ``digest`` is of every byte before it."""
    return b'{"t":"end","records":%d,"digest":"%s"}\n' % (records, digest.encode())
