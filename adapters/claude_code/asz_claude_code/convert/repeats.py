"""Keys that a record holds twice. Of two the fast reader takes the last and says nothing, and the bytes of
the first would be lost.

To look at every key costs more than reading the line. But the value that is lost stands before the one
that was taken: when a key is found first in front of the value that was taken, nothing was lost. Only a
line that fails this is looked at key by key; most of those hold the same key somewhere deeper.
"""

import re
from collections.abc import Iterator
from typing import Final

from asz_claude_code.convert.scan import members
from asz_claude_code.convert.shapes import Line

_COLON: Final = re.compile(rb"[ \t]*:[ \t]*")


def repeats_a_key(raw: bytes, line: Line) -> bool:
    """Whether a record holds a key twice, itself or in its message, before a value with a role.

    :param raw: the record, which is a JSON object.
    :param line: what was read from it.
    """
    if all(_comes_first(raw, key, value) for key, value in _taken(line)):
        return False
    top = list(members(raw))
    inner = [members(value) for key, value in top if key == "message" and value[:1] == b"{"]
    return _repeated(key for key, _ in top) or any(
        _repeated(key for key, _ in message) for message in inner
    )


def _taken(line: Line) -> Iterator[tuple[bytes, bytes]]:
    if line.message is not None:
        yield b'"message"', b"{"
        yield b'"content"', bytes(line.message.content)
    yield b'"toolUseResult"', bytes(line.tool_use_result)
    yield b'"attachment"', bytes(line.attachment)
    if line.uuid is not None:
        yield b'"uuid"', b'"%b"' % line.uuid.encode("utf-8", "surrogatepass")


def _comes_first(raw: bytes, key: bytes, value: bytes) -> bool:
    """Whether the first ``key`` in a record is followed by ``value``. A quote inside a string is escaped, so
    a key is never found in one."""
    if not value:
        return True
    colon = _COLON.match(raw, raw.find(key) + len(key))
    return colon is not None and raw.startswith(value, colon.end())


def _repeated(keys: Iterator[str]) -> bool:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return True
        seen.add(key)
    return False
