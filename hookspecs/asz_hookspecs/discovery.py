"""What one look at a runtime's files found."""

from collections.abc import Callable
from dataclasses import dataclass, field

from asz_hookspecs.source import Source

Followed = Callable[[str], frozenset[str]]
"""``followed(session)`` gives the ``src`` of each source of that session a cursor follows. It lets
discovery prefer, among several candidates, the one that is already being read."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session of the runtime and everything to read for it."""

    id: str
    """A single safe path component. Prefix it when the runtime's ids are not globally unique."""

    sources: tuple[Source, ...]
    """In order of preference: of two sources for one stream the first is read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be looked at, and what that hides."""

    message: str
    """One line naming the path and the reason."""

    hides: str | None = None
    """Prefix of every ``src`` that may exist unseen because of it. Nothing under it is judged gone."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The result of ``asz_discover``."""

    sessions: tuple[Session, ...]
    roots: tuple[str, ...] = ()
    """Absolute directories looked at, existing or not."""

    problems: tuple[Problem, ...] = field(default=())
    skipped: tuple[str, ...] = field(default=())
    """One line for each name that looks like the runtime's and was not read."""

    notes: tuple[str, ...] = field(default=())
    """One line for each thing worth saying that is no problem (shown with ``-v``)."""

    complete: bool = True
    """False when whole roots could not be listed: then nothing at all is judged gone."""
