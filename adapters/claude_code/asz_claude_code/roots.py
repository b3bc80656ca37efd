"""Which directories hold Claude Code's projects."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asz_hookspecs import AdapterError

PROJECTS = "projects"


class Roots(NamedTuple):
    """Where to look."""

    existing: list[str]
    """Absolute directories to read, each once."""
    looked: list[str]
    """Every directory considered, existing or not."""
    required: bool
    """Whether a person named them, so that one that cannot be read is an error."""


def find_roots(configured: Sequence[str]) -> Roots:
    """The source roots: the configured ones, else the one below ``CLAUDE_CONFIG_DIR``, else those of
    the default places that exist.

    :raises AdapterError: a root that was named is missing or is no directory.
    """
    named = [os.path.abspath(os.path.expanduser(root)) for root in configured]  # noqa: PTH111
    setting = "source_root"
    config_dir = os.environ.get("CLAUDE_CONFIG_DIR")
    if not named and config_dir:
        named = [str(Path(config_dir).expanduser().absolute() / PROJECTS)]
        setting = "CLAUDE_CONFIG_DIR"
    for root in named:
        _require_directory(root, setting)
    looked = named or _default_places()
    for root in looked:
        _require_utf8(root, setting if named else "home directory")
    existing = {os.path.realpath(root): root for root in reversed(looked) if Path(root).is_dir()}
    return Roots(list(reversed(existing.values())), looked, required=bool(named))


def _default_places() -> list[str]:
    try:
        home = Path.home()
    except RuntimeError:
        raise AdapterError(
            "no home directory is known; set HOME or CLAUDE_CONFIG_DIR, or name a source_root"
        ) from None
    xdg = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    return [str(Path(xdg) / "claude" / PROJECTS), str(home / ".claude" / PROJECTS)]


def _require_utf8(root: str, setting: str) -> None:
    try:
        root.encode()
    except UnicodeEncodeError:
        raise AdapterError(
            f"{setting}: {root}: its name is not UTF-8; name a link to it whose name is"
        ) from None


def _require_directory(root: str, setting: str) -> None:
    path = Path(root)
    if path.is_dir():
        return
    reason = "is not a directory" if path.exists() else "does not exist"
    raise AdapterError(
        f"{setting}: {root} {reason}; name the directory that holds Claude Code's projects"
    )
