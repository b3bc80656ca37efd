"""Slices of raw JSON that msgspec refuses: lone surrogates, ``NaN``, nesting thousands deep.

Python's own ``json`` decides what is JSON, being the most lenient parser at hand; the slices come from
a scan that does not recurse.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_LENIENT: Final = json.JSONDecoder(parse_int=float, parse_float=float)
"""Without the limit on digits that ``int`` has."""

_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_SCALAR: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:\[\]{}"]+', re.DOTALL)
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_OPENING: Final = frozenset((b"[", b"{"))
_CLOSING: Final = frozenset((b"]", b"}"))


class NotJsonError(ValueError):
    """The bytes are no JSON, or not the kind asked for; the message says which."""


def check_object(raw: bytes) -> None:
    """Make sure that ``raw``, which is UTF-8, is a JSON object.

    :raises NotJsonError: it is not.
    """
    stripped = raw.strip(b" \t\r\n")
    if not stripped:
        raise NotJsonError("empty line")
    try:
        value: Any = _LENIENT.decode(stripped.decode())
    except RecursionError:  # too deep for any parser: brackets that match must do
        value = {} if stripped[:1] == b"{" else None
        if _end_of_value(stripped, 0) != len(stripped):
            raise NotJsonError("not JSON: something follows the value") from None
    except ValueError as error:
        raise NotJsonError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise NotJsonError("not a JSON object")


def members(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Key and raw value of each member of a JSON object, in order, duplicates included.

    :raises NotJsonError: the bytes are not an object.
    """
    at = _skip_space(raw, _expect(raw, 0, b"{"))
    while raw[at : at + 1] != b"}":
        end = _end_of_value(raw, at)
        key = string(raw[at:end])
        start = _skip_space(raw, _expect(raw, end, b":"))
        end = _end_of_value(raw, start)
        yield key, raw[start:end]
        at = _after_comma(raw, end)


def items(raw: bytes) -> Iterator[bytes]:
    """Each raw item of a JSON array.

    :raises NotJsonError: the bytes are not an array.
    """
    at = _skip_space(raw, _expect(raw, 0, b"["))
    while raw[at : at + 1] != b"]":
        end = _end_of_value(raw, at)
        yield raw[at:end]
        at = _after_comma(raw, end)


def string(raw: bytes) -> str:
    """The value of a raw JSON string; it may hold lone surrogates.

    :raises NotJsonError: the bytes are not a string.
    """
    _expect(raw, 0, b'"')
    try:
        return str(_LENIENT.decode(raw.decode()))
    except ValueError as error:
        raise NotJsonError(f"not JSON: {error}") from error


def _end_of_value(raw: bytes, at: int) -> int:
    if raw[at : at + 1] not in _OPENING:
        match = _SCALAR.match(raw, at)
        if match is None:
            raise NotJsonError(f"not JSON: no value at byte {at}")
        return match.end()
    depth = 0
    for match in _TOKEN.finditer(raw, at):
        if match[0] in _OPENING:
            depth += 1
        elif match[0] in _CLOSING:
            depth -= 1
            if not depth:
                return match.end()
    raise NotJsonError("not JSON: a bracket is not closed")


def _skip_space(raw: bytes, at: int) -> int:
    match = _SPACE.match(raw, at)
    return match.end() if match else at


def _expect(raw: bytes, at: int, char: bytes) -> int:
    """Where to go on after ``char``, which may have space before it."""
    at = _skip_space(raw, at)
    if raw[at : at + 1] != char:
        raise NotJsonError(f"not JSON: no {char.decode()} at byte {at}")
    return at + 1


def _after_comma(raw: bytes, at: int) -> int:
    """Where the next item or the closing bracket is."""
    at = _skip_space(raw, at)
    return _skip_space(raw, at + 1) if raw[at : at + 1] == b"," else at
