"""Writing Session Data records: the keys of the format in their order, source bytes as they stand.

What a strict parser would refuse is repaired here, so that a landed file is JSON any program reads. What
an adapter got wrong is refused: the caller lands the source's bytes instead.
"""

import base64
import hashlib
import re
from operator import attrgetter
from typing import Any, Final

from asz.jsonio import Fragment, decode, encode, escaped
from asz.storage.sd import SHA_DIGITS
from asz_hookspecs.record import Part, Record
from asz_hookspecs.vocabulary import FLAGS, PART_KINDS, PART_STATES, TRIGGERS

WHY_LENGTH: Final = 40
"""Longest ``why`` of what was left out, in characters."""


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
        place = {"ord": ord_, "off": off, "sha": sha, "bytes": len(raw)}
        env = record.env if record.env != self._env else None
        try:
            line = encode(_fill(place, record, env))
        except TypeError:
            clean(record)
            env = record.env if record.env != self._env else None
            line = encode(_fill(place, record, env))
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
_KEYS: Final = tuple(name.rstrip("_") for name in _FIELDS)
_values: Final = attrgetter(*_FIELDS, "model", "request")
_FLAG_ORDER: Final = {flag: place for place, flag in enumerate(FLAGS)}
_TEXT: Final = frozenset((str, type(None)))
_TRUTH: Final = frozenset((bool, type(None)))
_SENDERS: Final = frozenset((None, "agent", "external", "runtime"))
_TRIGGERS: Final = frozenset((None, *TRIGGERS))
_PART_KINDS: Final = frozenset(PART_KINDS)
_PART_STATES: Final = frozenset(PART_STATES)
_USAGE_KEYS: Final = ("in", "out", "cache_read", "cache_write")


def _fill(place: dict[str, Any], record: Record, env: dict[str, str] | None) -> dict[str, Any]:
    """Every field of a record after its place, in the order of the format."""
    values = _values(record)
    if not _TEXT.issuperset(map(type, values)):
        raise ValueError("a field of a record holds something other than text")
    if record.from_ not in _SENDERS or record.trigger not in _TRIGGERS:
        raise ValueError(
            f"from {record.from_!r} or trigger {record.trigger!r} is not in the vocabulary"
        )
    out = dict(place)
    if record.rev is not None:
        out["rev"] = _count(record.rev)
    named = zip(_KEYS, values, strict=False)
    out.update({key: value for key, value in named if value is not None})
    if record.flags:
        out["flags"] = sorted(record.flags, key=_FLAG_ORDER.__getitem__)
    if record.model is not None:
        out["model"] = record.model
    if record.usage is not None:
        out["usage"] = {k: _count(n) for k, n in zip(_USAGE_KEYS, record.usage, strict=True) if n}
    if record.request is not None:
        out["request"] = record.request
    if env is not None:
        if not _TEXT.issuperset(map(type, (*env, *env.values()))):
            raise ValueError("an environment holds something other than text")
        out["env"] = env
    if record.parts:
        out["parts"] = _parts(record.parts)
    if record.dropped:
        out["dropped"] = [
            {"what": str(what), "bytes": _count(size), "why": str(why)[:WHY_LENGTH]}
            for what, size, why in record.dropped
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
    if part.k not in _PART_KINDS or part.state not in _PART_STATES:
        raise ValueError(f"part {part.k!r} or state {part.state!r} is not in the vocabulary")
    texts = (part.id, part.name, part.of, part.media, part.text)
    if not _TEXT.issuperset(map(type, texts)) or type(part.failed) not in _TRUTH:
        raise ValueError(f"part {block} holds something other than text")
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
    out["bytes"] = _count(part.size)
    return out


def _count(value: int) -> int:
    """A number a reader can hold; anything else is the adapter's mistake."""
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{value!r} is not a count")
    return value


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
