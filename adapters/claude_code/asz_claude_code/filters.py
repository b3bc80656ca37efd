"""Session filters: patterns over the project directory a session's main transcript lies in.

Claude Code names a project directory after the working directory it was started in and turns every
character but letters and digits into ``-``. That cannot be undone, so a pattern that is a path is
converted the same way.
"""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

Matcher = Callable[[str], bool]

_DRIVE: Final = re.compile(r"[A-Za-z]:")
_BELOW: Final = re.compile(r"[/\\]\*\*\Z")
_OTHER: Final = re.compile(r"[^A-Za-z0-9]")
_WILDCARDS: Final = {"*": ".*", "?": "."}


def converted(path: str) -> str:
    """The name of the project directory for a working directory."""
    return _OTHER.sub("-", path)


def matcher(pattern: str) -> Matcher:
    """Whether the name of a project directory fits ``pattern``.

    ``/x/**`` fits ``/x`` and everything below it, ``/x`` only itself; in a path ``*`` and ``?`` stand
    for any characters and for one. A leading ``~`` is the home directory. A pattern that is no path
    is a glob on the directory's name.
    """
    if pattern == "~" or pattern.startswith("~/"):
        pattern = str(Path(pattern).expanduser())
    drive = _DRIVE.match(pattern) is not None
    if not (drive or pattern.startswith("/")):
        return lambda name: fnmatchcase(name, pattern)
    return _path_matcher(pattern, drive)


def _path_matcher(pattern: str, drive: bool) -> Matcher:
    base = _BELOW.sub("", pattern)
    below = "(?:-.*)?" if base != pattern else ""
    base = base.rstrip("/\\")
    body = "".join(_WILDCARDS.get(char) or converted(char) for char in base)
    head = f"(?i:{body[0]})" if drive else body[:1]  # drive letters differ in case on one machine
    fits = re.compile(f"{head}{body[1:]}{below}", re.DOTALL).fullmatch
    return lambda name: fits(converted(name)) is not None


def session_filter(include: Iterable[str], exclude: Iterable[str]) -> Matcher:
    """Whether a session in a directory is wanted: none of ``exclude`` fits, and one of ``include``
    does or there is none."""
    wanted = [matcher(pattern) for pattern in include]
    unwanted = [matcher(pattern) for pattern in exclude]

    def admits(name: str) -> bool:
        if any(fits(name) for fits in unwanted):
            return False
        return not wanted or any(fits(name) for fits in wanted)

    return admits
