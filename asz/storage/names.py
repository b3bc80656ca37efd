"""What may become a name in the storage root. Ids come from transcripts and adapters: nobody's word."""

import re
from typing import Final

MAX_COMPONENT: Final = 200
"""Longest id that becomes a directory; file systems stop at 255 bytes and a lock or suffix may follow."""

_COMPONENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_NOT_BELOW: Final = frozenset(("", ".", ".."))
_RESERVED: Final = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.ASCII)


def safe_component(text: object) -> bool:
    """Whether ``text`` may name a session, a stream or a batch on every file system asz runs on."""
    return (
        isinstance(text, str)
        and len(text) <= MAX_COMPONENT
        and _COMPONENT.fullmatch(text) is not None
        and not text.endswith(".")
        and _RESERVED.fullmatch(text) is None
    )


def safe_src(text: object) -> bool:
    """Whether ``text`` is a relative path with forward slashes that stays below its root."""
    if not isinstance(text, str) or "\0" in text or not _NOT_BELOW.isdisjoint(text.split("/")):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return False
    return True
