"""Keys that a record holds twice. Of two the fast reader takes the last and says nothing, and the bytes of
the first would be lost.

To look at every key costs more than reading the line. But the value that is lost stands before the one
that was taken: when a key is found first in front of the value that was taken, nothing was lost. Only a
line that fails this is looked at key by key; most of those hold the same key somewhere deeper.
"""

from collections.abc import Iterator
from typing import Final

from asz_claude_code.convert.scan import members

_CONTENT: Final = b'"content":'
_MESSAGE: Final = b'"message":'
_RESULT: Final = b'"toolUseResult":'
_ATTACHMENT: Final = b'"attachment":'
_ID: Final = b'"uuid":'


def repeats_a_key(raw: bytes, content: bytes, result: bytes, attached: bytes) -> bool:
    """Whether a record holds a key twice, itself or in its message.

    :param raw: the record, which is a JSON object.
    :param content: raw JSON of what was taken as its message's content; empty for none. So are
        ``result`` for its tool result and ``attached`` for its attachment.
    """
    if _all_come_first(raw, content, result, attached):
        return False
    top = list(members(raw))
    inner = [members(value) for key, value in top if key == "message" and value[:1] == b"{"]
    return _repeated(key for key, _ in top) or any(
        _repeated(key for key, _ in message) for message in inner
    )


def _all_come_first(raw: bytes, content: bytes, result: bytes, attached: bytes) -> bool:
    """Whether each value that was taken stands right after the first place its key is found, without
    space, as Claude Code writes it, and the small keys stand once around them.

    This runs for every record, so it looks at most bytes once and calls nothing of its own. A quote
    inside a string is escaped, so a key is never found in one.
    """
    head, tail = (
        len(raw),
        0,
    )  # before and behind the large values, where the record's own keys stand
    if content:
        head = raw.find(_CONTENT) + len(_CONTENT)
        tail = head + len(content)
        if head < len(_CONTENT) or not raw.startswith(content, head):
            return False
    if result:
        at = raw.find(_RESULT, tail) + len(_RESULT)
        if at < len(_RESULT) or not raw.startswith(result, at) or raw.find(_RESULT, 0, head) >= 0:
            return False
        head, tail = min(head, at), max(tail, at + len(result))
    if attached:
        at = raw.find(_ATTACHMENT, tail) + len(_ATTACHMENT)
        if at < len(_ATTACHMENT) or not raw.startswith(attached, at):
            return False
        head, tail = min(head, at), max(tail, at + len(attached))
    return (
        raw.count(_MESSAGE, 0, head) + raw.count(_MESSAGE, tail) <= 1
        and raw.count(_ID, 0, head) + raw.count(_ID, tail) <= 1
    )


def _repeated(keys: Iterator[str]) -> bool:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return True
        seen.add(key)
    return False
