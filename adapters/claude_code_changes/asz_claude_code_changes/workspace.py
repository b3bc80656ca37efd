"""The workspace a file of changes is about: the first that one of its lines names."""

import os
import stat
from typing import Final

import msgspec

_READ: Final = 8 << 20
"""Bytes after which no further line is looked at; a first line is far shorter."""
_LONGEST: Final = 64 << 20
"""Bytes of the longest line that is looked at: the files of one large change may fill many megabytes."""


class _Root(msgspec.Struct, frozen=True):
    path: str = ""


class _Head(msgspec.Struct, frozen=True):
    root: _Root = _Root()


_HEAD: Final = msgspec.json.Decoder(_Head)


def workspace_of(path: str) -> str | None:
    """The ``root.path`` of the first line that has one; empty when none has, as far as is looked; ``None``
    when there is no complete line yet, so that nobody knows.

    :raises OSError: the file cannot be read.
    """
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(fd, "rb") as handle:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        found = None
        while handle.tell() < _READ and not found:
            line = handle.readline(_LONGEST)
            if not line.endswith(b"\n"):
                return found if len(line) < _LONGEST else ""
            found = _named_in(line)
        return found


def _named_in(line: bytes) -> str:
    try:
        return _HEAD.decode(line).root.path
    except (msgspec.DecodeError, RecursionError):
        return ""
