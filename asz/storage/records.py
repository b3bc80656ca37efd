"""Writing Session Data records: the keys of the format in their order, source bytes as they stand.

What a strict parser would refuse is repaired here, so that a landed file is JSON any program reads. What
an adapter got wrong is refused: the caller lands the source's bytes instead.
"""

import base64
import hashlib
import re
from operator import attrgetter
from typing import Final

import msgspec

from asz.jsonio import decode, encode, escaped
from asz.storage.sd import NO_DATA, SHA_DIGITS, LandedDropped, LandedPart, LandedRecord, LandedUsage
from asz_hookspecs.record import Part, Record
from asz_hookspecs.vocabulary import FLAGS, PART_KINDS, PART_STATES, TRIGGERS

WHY_LENGTH: Final = 40
"""Longest ``why`` of what was left out, in characters."""


_encode: Final = msgspec.json.Encoder().encode


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
        :raises Exception: the adapter put something into the record that the format has no place for.
        """
        place = (ord_, off, sha, len(raw))
        env = record.env if record.env != self._env else None
        try:
            line = _encode(_line(place, record, env))
        except UnicodeEncodeError:
            clean(record)
            env = record.env if record.env != self._env else None
            line = _encode(_line(place, record, env))
        if env is not None:
            self._env = env
        return line + b"\n"


def record_sha(raw: bytes) -> str:
    """The digest of a source record's bytes, as far as it is written."""
    return hashlib.sha256(raw).hexdigest()[:SHA_DIGITS]


_FIELDS: Final = (
    "id", "parent", "call", "run", "continues", "tool", "child", "batch", "started_by", "label",
    "from_", "time", "trigger",
)  # fmt: skip
_values: Final = attrgetter(*_FIELDS)
_FLAG_ORDER: Final = {flag: place for place, flag in enumerate(FLAGS)}
_TEXT: Final = frozenset((str, type(None)))
_TRUTH: Final = frozenset((bool, type(None)))
_SENDERS: Final = frozenset((None, "agent", "external", "runtime"))
_TRIGGERS: Final = frozenset((None, *TRIGGERS))
_PART_KINDS: Final = frozenset(PART_KINDS)
_PART_STATES: Final = frozenset(PART_STATES)


def _line(
    place: tuple[int, int, str, int], record: Record, env: dict[str, str] | None
) -> LandedRecord:
    """A record behind its place."""
    values = _values(record)
    if not _TEXT.issuperset(map(type, (*values, record.model, record.request))):
        raise ValueError("a field of a record holds something other than text")
    if record.from_ not in _SENDERS or record.trigger not in _TRIGGERS:
        raise ValueError(
            f"from {record.from_!r} or trigger {record.trigger!r} is not in the vocabulary"
        )
    line = LandedRecord(*place, record.rev, *values)
    if record.rev is not None:
        _count(record.rev)
    if record.flags:
        line.flags = tuple(sorted(record.flags, key=_FLAG_ORDER.__getitem__))
    line.model = record.model
    if record.usage is not None:
        line.usage = LandedUsage(*map(_count, record.usage))
    line.request = record.request
    if env is not None:
        if not _TEXT.issuperset(map(type, (*env, *env.values()))):
            raise ValueError("an environment holds something other than text")
        line.env = env
    if record.parts:
        line.parts = _pieces(record.parts)
    if record.dropped:
        line.dropped = [
            LandedDropped(str(what), _count(size), str(why)[:WHY_LENGTH])
            for what, size, why in record.dropped
        ]
    return line


def _pieces(parts: list[Part]) -> list[LandedPart]:
    """Every part as it is written. A piece of JSON that must be repaired is followed, after the content,
    by an ``unknown`` part with its source; that part is added to ``parts`` as well."""
    kept: list[Part] = []
    out = [_piece(part, block, kept) for block, part in enumerate(parts)]
    if kept:
        out += [_unknown(part) for part in kept]
        parts += kept
    return out


def _piece(part: Part, block: int, kept: list[Part]) -> LandedPart:
    if part.k not in _PART_KINDS or part.state not in _PART_STATES:
        raise ValueError(f"part {part.k!r} or state {part.state!r} is not in the vocabulary")
    texts = (part.id, part.name, part.of, part.media, part.text)
    if not _TEXT.issuperset(map(type, texts)) or type(part.failed) not in _TRUTH:
        raise ValueError(f"part {block} holds something other than text")
    if part.k == "unknown":
        return _unknown(part)
    data = NO_DATA if part.data is None else msgspec.Raw(_strict(part, block, kept))
    return LandedPart(
        part.k,
        part.id,
        part.name,
        part.of,
        part.failed,
        part.media,
        part.text,
        None,
        data,
        part.state,
        _count(part.size),
    )


def _count(value: int) -> int:
    """A number a reader can hold; anything else is the adapter's mistake."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{value!r} is not a count")
    return value


def _unknown(part: Part) -> LandedPart:
    """An ``unknown`` part: its source bytes as one JSON string, or their base64."""
    raw = part.raw or b""
    encoding = None
    try:
        data = raw.decode()
    except UnicodeDecodeError:
        encoding = "base64"
        data = base64.b64encode(raw).decode()
    part.size = len(raw)
    return LandedPart(
        "unknown",
        text=part.text,
        encoding=encoding,
        data=msgspec.Raw(encode(data)),
        state=part.state,
        size=part.size,
    )


# ---------------------------------------------------------------- what a strict parser refuses


def _strict(part: Part, block: int, kept: list[Part]) -> bytes:
    """The part's data as any parser accepts it: the source's bytes when they are strict JSON.

    It replaces what the part held, so that a record that is encoded twice is mended once.
    """
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
    part.data = mended
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
