"""Text on a terminal. What comes from a transcript or a file name is nobody's word: it must not move the
cursor, turn the reading direction, or fake a line."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from asz.jsonio import encode_pretty

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control, bidirectional, line-separating and invisible characters, and lone surrogates."""

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """``text`` with everything escaped that a terminal would act on; line ends too."""
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    number = ord(character)
    if number < 0x100:
        return _SHORT.get(character, f"\\x{number:02x}")
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def json_text(value: Any) -> str:
    """``value`` as indented JSON that reads back as the same value and is safe on a terminal."""
    return safe_json(encode_pretty(value))


def safe_json(text: str) -> str:
    """JSON text with what a terminal would act on as escapes; all of it lies inside JSON strings, except
    the line ends and tabs between them."""
    return _UNPRINTABLE.sub(_escape_json, text)


def _escape_json(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\n\r\t":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table: columns aligned, cells printable, nothing at the ends of lines."""
    cells = [tuple(header), *(tuple(map(printable, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
