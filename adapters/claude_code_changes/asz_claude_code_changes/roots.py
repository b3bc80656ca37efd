"""Which directories hold what the plugin wrote: ``plugins/data`` beside Claude Code's ``projects``."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from asz_hookspecs import AdapterError

_PROJECTS: Final = "projects"
_DATA: Final = Path("plugins", "data")


class Roots(NamedTuple):
    """Where to look."""

    existing: list[str]
    """Absolute directories to read, each once."""
    looked: list[str]
    """Every directory considered, existing or not."""
    required: bool
    """Whether a person named them, so that one that cannot be read is an error."""


def find_roots(configured: Sequence[str]) -> Roots:
    """The source roots: the configured ones, else the one below ``CLAUDE_CONFIG_DIR``, else those of the
    default places that exist. Without the plugin there is none, which is no error.

    :raises AdapterError: a root that was named is missing or is no directory, or has a name that is
        not UTF-8.
    """
    looked = [str(_named(root)) for root in configured] or _default_places()
    for root in looked:
        _require_utf8(root)
    existing = {os.path.realpath(root): root for root in reversed(looked) if Path(root).is_dir()}
    return Roots(list(reversed(existing.values())), looked, required=bool(configured))


def _named(configured: str) -> Path:
    """The directory meant by one that a person named: Claude Code's own, its ``projects``, or any further
    down to the one the sessions lie in."""
    root = Path(os.path.abspath(os.path.expanduser(configured)))  # noqa: PTH111 - it never fails
    if not root.is_dir():
        reason = "is not a directory" if root.exists() else "does not exist"
        raise AdapterError(
            f"source_root: {root} {reason}; name Claude Code's directory or the plugin's"
        )
    beside = [root.parent] if root.name == _PROJECTS else []
    candidates = [place / _DATA for place in (root, *beside)]
    return next((place for place in candidates if place.is_dir()), root)


def _default_places() -> list[str]:
    config_dir = os.environ.get("CLAUDE_CONFIG_DIR")
    try:
        if config_dir:
            return [str(Path(config_dir).expanduser().absolute() / _DATA)]
        home = Path.home()
    except RuntimeError:  # no home directory is known: the adapter of the transcripts says so
        return []
    xdg = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    return [str(Path(xdg) / "claude" / _DATA), str(home / ".claude" / _DATA)]


def _require_utf8(root: str) -> None:
    try:
        root.encode()
    except UnicodeEncodeError:
        raise AdapterError(
            f"{root!r}: its name is not UTF-8; name a link to it whose name is as source_root"
        ) from None
