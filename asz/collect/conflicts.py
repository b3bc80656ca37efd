"""Sources that are not what their cursors know: landing them again, which there were, and who decides when
it happens too often."""

import shlex
import time
from dataclasses import dataclass
from typing import Final

from asz.collect.forward import Readings, by_place
from asz.collect.lander import Lander
from asz.collect.work import Report
from asz.errors import NotFoundError
from asz.storage.cursors import Conflict, Cursor, SessionState, read_conflicts, read_cursors
from asz.storage.landed import landed_names
from asz.storage.locks import hold
from asz.storage.root import Root

MOST_A_DAY: Final = 8
"""Times within a day that a source lands again from its start; what rewrites it in every pass would fill
the disk."""

DAY_NS: Final = 86_400 * 1_000_000_000

ALL: Final = "all"
"""What is resolved when it is every source in conflict."""


def conflict_line(cursor: Cursor) -> str:
    """What a pass says of a source that stays in conflict, every time."""
    return (
        f"{cursor.path or cursor.src}: in conflict: rewritten more than {MOST_A_DAY} times within a day, "
        f"now with {cursor.reason}; nothing of it is read; to accept the file as it is now: "
        f"asz sources --resolve {shlex.quote(cursor.src)}"
    )


@dataclass(frozen=True, slots=True)
class Again:
    """Begins next readings in one session's turn."""

    state: SessionState
    readings: Readings
    lander: Lander
    report: Report

    def __call__(self, cursor: Cursor, reason: str) -> bool:
        """Put a cursor to the start of a next reading, and say so; ``False``: it happened too often, and the
        cursor is in conflict until a person acts."""
        if self.state.conflicts_since(cursor, time.time_ns() - DAY_NS) >= MOST_A_DAY:
            cursor.state, cursor.reason = "conflict", reason
            self.report.conflict(conflict_line(cursor))
            return False
        cursor.begin_again(self.readings.next_gen(cursor))
        self.readings.claim(cursor)
        self.say(
            cursor,
            reason,
            f"{cursor.path or cursor.src}: rewritten: {reason}; it lands again from its start, as reading "
            f"{cursor.gen + 1}, and what landed before stays",
        )
        return True

    def say(self, cursor: Cursor, reason: str, line: str) -> None:
        """Count a conflict that was dealt with, and keep it for who asks later."""
        self.lander.tell(Conflict(*cursor.identity, cursor.src, time.time_ns(), reason, cursor.gen))
        self.report.conflict(line)


@dataclass(frozen=True, slots=True)
class Found:
    """A conflict of a session."""

    session: str
    src: str
    at_ns: int
    """Nanoseconds since the epoch."""
    reason: str
    reading: int | None
    """The reading it landed as, from 1; ``None``: nothing is read of it until a person acts."""


def conflicts(root: Root) -> list[Found]:
    """Every conflict there was, by session and time, those that stand last."""
    found = []
    for session in root.sessions():
        directory = root.session_dir(session)
        found += [
            Found(session, c.src, c.at_ns, c.reason, c.gen + 1) for c in read_conflicts(directory)
        ]
        found += [
            Found(session, cursor.src, cursor.updated_at, cursor.reason, None)
            for cursor in read_cursors(directory).values()
            if cursor.state == "conflict"
        ]
    return found


def resolve(root: Root, source: str) -> list[Cursor]:
    """Accept the file of a source in conflict as it is now: the next pass reads it from its start, as a next
    reading whose records land under new sequences.

    :param source: the ``src`` or the path a conflict names, or ``all``.
    :raises NotFoundError: no source in conflict has that name, or several have.
    :raises BusyError: a collector has the session.
    """
    found = [
        (session, cursor.identity)
        for session in root.sessions()
        for cursor in read_cursors(root.session_dir(session)).values()
        if cursor.state == "conflict" and source in (ALL, cursor.src, cursor.path)
    ]
    if source != ALL and not found:
        raise NotFoundError(
            f"{source}: no source in conflict has that name; see: asz sources --conflicts"
        )
    if source != ALL and len(found) > 1:
        raise NotFoundError(f"{source}: several sources have that name; give the whole path")
    return [_resolve(root, session, identity) for session, identity in found]


def _resolve(root: Root, session: str, identity: tuple[str, str, str]) -> Cursor:
    directory = root.session_dir(session)
    with hold(directory / ".lock"), SessionState.open(directory) as state:
        cursors = state.cursors()
        cursor = cursors[identity]
        readings = Readings(directory, by_place(landed_names(directory)), cursors)
        cursor.begin_again(readings.next_gen(cursor))
        state.save([cursor])
        return cursor
