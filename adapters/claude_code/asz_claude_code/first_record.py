"""The session an agent's file belongs to, when its place does not tell."""

from typing import Final

import msgspec

_LONGEST: Final = 16 * 1024 * 1024
"""Bytes of a line that are looked at; a first record is far shorter."""


class _Head(msgspec.Struct):
    session: str | None = msgspec.field(default=None, name="sessionId")


_HEAD: Final = msgspec.json.Decoder(_Head)


def session_of(path: str) -> str | None:
    """The ``sessionId`` of the first line that can be read; ``None`` when it has none.

    :raises OSError: the file cannot be read.
    """
    with open(path, "rb") as handle:
        while line := handle.readline(_LONGEST):
            try:
                return _HEAD.decode(line).session
            except (msgspec.DecodeError, RecursionError):
                continue
    return None
