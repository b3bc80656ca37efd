"""Keys that a record holds twice. Of two the fast reader takes the last and says nothing, and the bytes of
the first would be lost.

To look at every key costs more than reading the line. But the value that is lost stands before the one
that was taken: when a key is found first in front of the value that was taken, nothing was lost. Only a
line that fails this is looked at key by key; most of those hold the same key somewhere deeper.
"""

from collections.abc import Iterator
from typing import Final

from asz_claude_code.convert.scan import members
from asz_claude_code.convert.shapes import Line

_CONTENT: Final = b'"content":'


def repeats_a_key(raw: bytes, line: Line) -> bool:
    """Whether a record holds a key twice, itself or in its message.

    :param raw: the record, which is a JSON object.
    :param line: what was read from it.
    """
    if _all_come_first(raw, line):
        return False
    top = list(members(raw))
    inner = [members(value) for key, value in top if key == "message" and value[:1] == b"{"]
    return _repeated(key for key, _ in top) or any(
        _repeated(key for key, _ in message) for message in inner
    )


def _all_come_first(raw: bytes, line: Line) -> bool:
    """Whether each value that was taken is the one after the first place its key is found."""
    message, result, attached = line.message, bytes(line.tool_use_result), bytes(line.attachment)
    content = bytes(message.content) if message is not None else b""
    start = raw.find(_CONTENT) + len(_CONTENT) if content else 0
    end = start + len(content)  # in between no key is the record's own; it is most of the bytes
    return (
        (not content or (start >= len(_CONTENT) and raw.startswith(content, start)))
        and (message is None or _comes_first(raw, b'"message":', b"{", start, end))
        and (not result or _comes_first(raw, b'"toolUseResult":', result, start, end))
        and (not attached or _comes_first(raw, b'"attachment":', attached, start, end))
        and (line.uuid is None or _comes_first(raw, b'"uuid":', _quoted(line.uuid), start, end))
    )


def _comes_first(raw: bytes, key: bytes, value: bytes, start: int, end: int) -> bool:
    """Whether the first ``key`` outside of ``start`` to ``end`` is followed by ``value``, without space, as
    Claude Code writes it. A quote inside a string is escaped, so a key is never found in one."""
    at = raw.find(key, 0, start)
    if at < 0:
        at = raw.find(key, end)
    return at >= 0 and raw.startswith(value, at + len(key))


def _quoted(text: str) -> bytes:
    return b'"%b"' % text.encode("utf-8", "surrogatepass")


def _repeated(keys: Iterator[str]) -> bool:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return True
        seen.add(key)
    return False
