"""Paths as Claude Code writes them, on whatever system it ran."""

import re
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final

_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def relative_to(path: str, directory: str) -> str:
    """``path`` below ``directory``, with forward slashes; as it stands when it does not lie there.

    Names are not resolved: no link is followed, and a path that climbs with ``..`` stays as it is.
    """
    flavour = PureWindowsPath if _WINDOWS.match(directory) else PurePosixPath
    whole: PurePath = flavour(path)
    if not directory or ".." in whole.parts:
        return path
    try:
        below = whole.relative_to(flavour(directory))
    except ValueError:
        return path
    return below.as_posix() if below.parts else path
