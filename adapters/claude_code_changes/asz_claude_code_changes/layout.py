"""How the plugin names its files: ``<plugin>/output/<session>/<stream>.jsonl``.

Sessions and agents have the names Claude Code gives them. They are compared byte for byte.
"""

import re
from typing import Final

OUTPUT: Final = "output"
MAIN: Final = "main"
SUFFIX: Final = ".jsonl"
LATER_FORMAT: Final = ".execution.jsonl"
"""How files end that belong to a later format of the plugin's; they are left alone."""

_SESSION: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_AGENT: Final = re.compile(
    r"a[0-9a-f]{16}"  # most agents
    r"|[0-9a-f]{7,8}"  # older versions
    r"|a[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}-[0-9a-f]{6,32}",  # named and forked agents, helpers
    re.ASCII,
)


def is_session_id(name: str) -> bool:
    """Whether ``name`` has the shape of a session id, in either case."""
    return _SESSION.fullmatch(name) is not None


def is_stream_file(name: str) -> bool:
    """Whether a file holds lines of one stream, this format's or not."""
    return name.endswith(SUFFIX) and not name.endswith(LATER_FORMAT)


def stream_of(name: str) -> str | None:
    """The stream of a file: ``main`` or an agent id; ``None`` for any other name."""
    stem = name.removesuffix(SUFFIX)
    return stem if stem == MAIN or _AGENT.fullmatch(stem) else None
