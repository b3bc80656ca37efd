"""A tree of Claude Code's files to look through."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from asz_claude_code.discover import discover
from asz_claude_code.options import Options
from asz_hookspecs import Discovery, Session, Source

SESSION = "0b5ff9a0-7d0f-4a5e-9c1a-2f7f8d1f0a11"
OTHER = "1c6ff9a0-7d0f-4a5e-9c1a-2f7f8d1f0a22"
AGENT = "a0123456789abcdef"
RUN = "wf_1a2b3c4d-5e6"
HOME = "-srv-tea"
AWAY = "-srv-else"

NOBODY = 65534


class Tree:
    """One source root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, src: str, content: bytes = b"{}\n") -> Path:
        """A file below the root."""
        path = self.root / src
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def link(self, src: str, target: Path | str) -> Path:
        """A symbolic link below the root."""
        path = self.root / src
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
        return path

    def discover(self, followed: Iterable[str] = (), **options: object) -> Discovery:
        """What discovery finds; ``followed`` are the sources that cursors follow."""
        known = frozenset(followed)
        settings = Options.model_validate({"source_root": str(self.root), "exclude": [], **options})
        return discover(settings, lambda _: known)

    def sources(self, session: str = SESSION) -> list[Source]:
        """The sources of one session."""
        return sources_of(self.discover(), session)


def session_in(found: Discovery, session: str = SESSION) -> Session:
    """One session of those found."""
    (one,) = (one for one in found.sessions if one.id == session)
    return one


def sources_of(found: Discovery, session: str = SESSION) -> list[Source]:
    """Its sources."""
    return list(session_in(found, session).sources)


def srcs(sources: Iterable[Source]) -> list[str]:
    """Their paths below the root."""
    return [source.src for source in sources]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Without the right to read everything, which the superuser has whatever the mode."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
