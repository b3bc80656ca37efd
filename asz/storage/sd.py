"""Session Data, ``sd/1``: the landed format. One header line, one line a record, one closing line.

The format is public (docs/session-data.md). Keys are fixed and ordered; a reader ignores keys it
does not know. Bytes of the source's own JSON are embedded as they stand.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import msgspec

from asz.errors import FormatError
from asz.jsonio import Fragment, decode, encode, escaped
from asz_hookspecs.record import Part, Record
from asz_hookspecs.vocabulary import FLAGS

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


# ---------------------------------------------------------------- what a reader gets


class Header(msgspec.Struct, omit_defaults=True):
    """First line of a landed file. ``at`` is the pass's stamp, RFC 3339 with nanoseconds."""

    h: int
    schema: str
    seq: int
    at: str
    kind: str
    adapter: str
    dialect: str
    runtime: str
    src: str
    session: str
    stream: str | None = None
    batch: str | None = None
    gen: int | None = None


class LandedUsage(msgspec.Struct, rename={"input": "in", "output": "out"}):
    """Token counts; zero when left out."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class LandedPart(msgspec.Struct, rename={"size": "bytes"}):
    """One part as landed. ``data`` is the raw JSON."""

    k: str
    id: str | None = None
    name: str | None = None
    of: str | None = None
    failed: bool | None = None
    media: str | None = None
    text: str | None = None
    encoding: str | None = None
    data: msgspec.Raw = msgspec.Raw()
    state: str = "available"
    size: int = 0


class LandedDropped(msgspec.Struct, rename={"size": "bytes"}):
    """Something understood and left out."""

    what: str
    size: int
    why: str


class LandedRecord(msgspec.Struct, rename={"from_": "from", "size": "bytes"}):
    """One record as landed."""

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
    with path.open("rb") as handle:
        return _header(path, handle.readline())


def read_file(path: Path) -> SdFile:
    """A landed file, whole.

    :raises FormatError: header, closing line, count or digest are not right.
    """
    data = path.read_bytes()
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
    if closing.digest != hashlib.sha256(data[: -len(lines[-1]) - 1]).hexdigest():
        raise FormatError(f"{path}: digest does not match, the file was changed")
    return SdFile(path, header, lines[1:-1], hashlib.sha256(data).hexdigest())


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


class RecordWriter:
    """Encodes the records of one landed file; remembers the environment last written in it."""

    def __init__(self) -> None:
        self._env: dict[str, str] | None = None

    def encode(self, record: Record, ord_: int, off: int, raw: bytes, sha: str) -> bytes:
        """One record line, line end included.

        What a strict parser would refuse is repaired in ``record`` itself, so that an index row made
        from it says what the landed line says.

        :param ord_: number of the source record, from 1.
        :param off: its byte offset in the source.
        :param raw: the source record's bytes.
        :param sha: what ``record_sha`` gives for them.
        :raises TypeError: the adapter put something other than text, numbers and bytes in a field.
        :raises KeyError: the adapter used a flag the vocabulary does not have.
        """
        out: dict[str, Any] = {
            "ord": ord_,
            "off": off,
            "sha": sha,
            "bytes": len(raw),
        }
        given = len(record.parts)
        env = record.env if record.env != self._env else None
        try:
            line = encode({**out, **_fill(record, env)})
        except TypeError:
            del record.parts[given:]
            clean(record)
            env = record.env if record.env != self._env else None
            line = encode({**out, **_fill(record, env)})
        if env is not None:
            self._env = env
        return line + b"\n"


def record_sha(raw: bytes) -> str:
    """The digest of a source record's bytes, as far as it is written."""
    return hashlib.sha256(raw).hexdigest()[:SHA_DIGITS]


_FIELDS: Final = (
    "rev", "id", "parent", "call", "run", "continues", "tool", "child", "batch", "started_by", "label",
    "from_", "time", "trigger",
)  # fmt: skip
_KEYS: Final = tuple(name.rstrip("_") for name in _FIELDS)
_values: Final = attrgetter(*_FIELDS)
_FLAG_ORDER: Final = {flag: place for place, flag in enumerate(FLAGS)}
_USAGE_KEYS: Final = ("in", "out", "cache_read", "cache_write")


def _fill(record: Record, env: dict[str, str] | None) -> dict[str, Any]:
    """Every field of a record, in the order of the format."""
    out: dict[str, Any] = {
        key: value for key, value in zip(_KEYS, _values(record), strict=True) if value is not None
    }
    if record.flags:
        out["flags"] = sorted(record.flags, key=_FLAG_ORDER.__getitem__)
    if record.model is not None:
        out["model"] = record.model
    if record.usage is not None:
        out["usage"] = {k: n for k, n in zip(_USAGE_KEYS, record.usage, strict=True) if n}
    if record.request is not None:
        out["request"] = record.request
    if env is not None:
        out["env"] = env
    if record.parts:
        out["parts"] = _parts(record.parts)
    if record.dropped:
        out["dropped"] = [
            {"what": what, "bytes": size, "why": why} for what, size, why in record.dropped
        ]
    return out


def _parts(parts: list[Part]) -> list[dict[str, Any]]:
    """Every part as a dict in key order. A piece of JSON that must be repaired is followed, after the
    content, by an ``unknown`` part with its source; that part is added to ``parts`` as well."""
    kept: list[Part] = []
    out = [_part(part, block, kept) for block, part in enumerate(parts)]
    if kept:
        out += [_unknown(part) for part in kept]
        parts += kept
    return out


def _part(part: Part, block: int, kept: list[Part]) -> dict[str, Any]:
    if part.k == "unknown":
        return _unknown(part)
    out: dict[str, Any] = {"k": part.k}
    if part.id is not None:
        out["id"] = part.id
    if part.name is not None:
        out["name"] = part.name
    if part.of is not None:
        out["of"] = part.of
    if part.failed is not None:
        out["failed"] = part.failed
    if part.media is not None:
        out["media"] = part.media
    if part.text is not None:
        out["text"] = part.text
    if part.data is not None:
        out["data"] = Fragment(_strict(part, block, kept))
    out["state"] = part.state
    out["bytes"] = part.size
    return out


def _unknown(part: Part) -> dict[str, Any]:
    """An ``unknown`` part: its source bytes as one JSON string, or their base64."""
    raw = part.raw or b""
    out: dict[str, Any] = {"k": "unknown"}
    if part.text is not None:
        out["text"] = part.text
    try:
        data = raw.decode()
    except UnicodeDecodeError:
        out["encoding"] = "base64"
        data = base64.b64encode(raw).decode()
    out["data"] = data
    out["state"] = part.state
    out["bytes"] = part.size = len(raw)
    return out


# ---------------------------------------------------------------- what a strict parser refuses


def _strict(part: Part, block: int, kept: list[Part]) -> bytes:
    """The part's data as any parser accepts it: the source's bytes when they are strict JSON."""
    source = data = part.data or b"null"
    if b"\n" in data or b"\r" in data:  # only ever between tokens: JSON strings hold neither raw
        data = data.replace(b"\r", b"").replace(b"\n", b"")
    try:
        decode(data)
        return data
    except ValueError as error:
        reason = str(error).split(":", 1)[0]
    mended = replace_lone_surrogates(data)
    try:
        decode(mended)
        reason = "lone surrogate"
    except ValueError:
        mended = encode(data.decode("utf-8", "replace"))
    kept.append(Part("unknown", raw=source, text=f"block {block}: {reason}"))
    return mended


def replace_lone_surrogates(data: bytes) -> bytes:
    r"""Raw JSON with each lone surrogate escape as ``\ufffd``: six bytes for six."""
    return _ESCAPES.sub(lambda m: b"\\ufffd" if m.group(1) else m.group(0), data)


_ESCAPES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def clean(record: Record) -> None:
    """Replace lone surrogates in every string of a record; a text that held one keeps its source in an
    ``unknown`` part after the content."""
    for name in (*_FIELDS, "model", "request"):
        value = getattr(record, name)
        if isinstance(value, str):
            setattr(record, name, _SURROGATES.sub("\ufffd", value))
    if record.env is not None:
        record.env = {
            _SURROGATES.sub("\ufffd", k): _SURROGATES.sub("\ufffd", v)
            for k, v in record.env.items()
        }
    for block, part in enumerate(list(record.parts)):
        for name in ("id", "name", "of", "media"):
            value = getattr(part, name)
            if value is not None:
                setattr(part, name, _SURROGATES.sub("\ufffd", value))
        text = part.text
        if text is not None and _SURROGATES.search(text):
            part.text = _SURROGATES.sub("\ufffd", text)
            if part.k != "unknown":
                raw = part.raw or escaped(text)
                record.parts.append(Part("unknown", raw=raw, text=f"block {block}: lone surrogate"))
