"""Filters: patterns over the workspace that records name."""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

Matcher = Callable[[str], bool]

_PATH: Final = re.compile(r"/|\\\\|[A-Za-z]:")
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_BELOW: Final = re.compile(r"[/\\]\*\*\Z")
_OTHER: Final = re.compile(r"[^A-Za-z0-9]")
_SEPARATOR: Final = r"[/\\]"
_CHARACTERS: Final = {"*": ".*", "?": ".", "/": _SEPARATOR, "\\": _SEPARATOR}


def matcher(pattern: str) -> Matcher:
    """Whether the path of a workspace fits ``pattern``.

    ``/x/**`` fits ``/x`` and everything below it, ``/x`` only itself; in a path ``*`` and ``?`` stand
    for any characters and for one. A leading ``~`` is the home directory. A pattern that is no path is
    a glob on the name Claude Code's project directory of the workspace has.
    """
    if pattern == "~" or pattern.startswith("~/"):
        pattern = str(Path(pattern).expanduser())
    if not _PATH.match(pattern):
        return lambda workspace: fnmatchcase(_OTHER.sub("-", workspace), pattern)
    base = _BELOW.sub("", pattern)
    below = f"(?:{_SEPARATOR}.*)?" if base != pattern else ""
    body = "".join(_CHARACTERS.get(char) or re.escape(char) for char in base.rstrip("/\\"))
    flags = re.IGNORECASE if _DRIVE.match(pattern) else re.NOFLAG
    fits = re.compile(body + below, flags | re.DOTALL).fullmatch
    return lambda workspace: fits(workspace.rstrip("/\\")) is not None


def workspace_filter(include: Iterable[str], exclude: Iterable[str]) -> Matcher:
    """Whether a workspace is wanted: none of ``exclude`` fits, and one of ``include`` does or there is
    none."""
    wanted = [matcher(pattern) for pattern in include]
    unwanted = [matcher(pattern) for pattern in exclude]

    def admits(workspace: str) -> bool:
        if any(fits(workspace) for fits in unwanted):
            return False
        return not wanted or any(fits(workspace) for fits in wanted)

    return admits
