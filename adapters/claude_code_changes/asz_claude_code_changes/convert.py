"""One line of changes to one record, which holds it whole."""

import json
import re
from typing import Final, Literal

import msgspec

from asz_hookspecs import Part, Record, damaged

SCHEMA: Final = "changes/1"

_SPACE: Final = b" \t\r\n"
_SEPARATOR: Final = re.compile(r"[/\\]")
_ROOTED: Final = re.compile(r"[/\\]|[A-Za-z]:")
_WHY_LENGTH: Final = 200


class Change(msgspec.Struct):
    """What a change must say."""

    path: str
    operation: Literal["create", "modify", "delete", "type_change"]
    diff: Literal["available", "binary", "too_large", "unavailable"]


class Line(msgspec.Struct):
    """What a record of changes must say."""

    schema: str
    id: str
    captured_by: str
    session: str
    stream: str
    time: str
    basis: Literal["runtime_reported", "tool_window", "unattributed", "skipped_read_only"]
    tool: str | None = None
    changes: list[Change] | None = None


class InvalidError(ValueError):
    """A line is no record of changes; the message says why."""


_LINE: Final = msgspec.json.Decoder(Line)
_LENIENT: Final = json.JSONDecoder(parse_int=float, parse_float=float)
"""Takes what a strict parser refuses, lone surrogates and ``NaN``, and numbers of any length."""


def convert_line(raw: bytes) -> Record:
    """The record of a line; of one that is no valid record of changes, its bytes and the reason."""
    try:
        line = _read(raw)
        _check(line)
    except InvalidError as error:
        return damaged(raw, str(error)[:_WHY_LENGTH])
    data = raw.strip(_SPACE)
    return Record(
        id=line.id,
        tool=line.tool or None,
        time=line.time,
        parts=[Part("data", data=data, size=len(data))],
    )


def _read(raw: bytes) -> Line:
    if not raw.strip(_SPACE):
        raise InvalidError("empty line")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise InvalidError("not UTF-8") from None
    try:
        return _LINE.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _read_leniently(text)


def _read_leniently(text: str) -> Line:
    try:
        return msgspec.convert(_LENIENT.decode(text.strip()), Line)
    except msgspec.ValidationError as error:
        raise InvalidError(f"not {SCHEMA}: {error}") from error
    except RecursionError:
        raise InvalidError("not JSON: nested too deep") from None
    except ValueError as error:
        raise InvalidError(f"not JSON: {error}") from error


def _check(line: Line) -> None:
    if line.schema != SCHEMA:
        raise InvalidError(f"not {SCHEMA}: schema is {line.schema!r}")
    for name in ("id", "captured_by", "session", "stream", "time"):
        if not getattr(line, name):
            raise InvalidError(f"not {SCHEMA}: {name} is empty")
    if not line.tool and line.basis != "unattributed":
        raise InvalidError(f"not {SCHEMA}: names no tool")
    for number, change in enumerate(line.changes or ()):
        if not stays_below(change.path):
            raise InvalidError(f"not {SCHEMA}: path of change {number} leads out of the workspace")


def stays_below(path: str) -> bool:
    """Whether a path names a file below the workspace, on any system: relative, and never up."""
    rooted = not path or "\0" in path or _ROOTED.match(path) is not None
    return not rooted and ".." not in _SEPARATOR.split(path)
