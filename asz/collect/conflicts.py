"""Sources in conflict: which there are, and accepting one as it is now."""

from dataclasses import dataclass

from asz.errors import NotFoundError
from asz.storage.cursors import Cursor, SessionState, read_cursors, read_refused
from asz.storage.locks import hold
from asz.storage.root import Root


@dataclass(frozen=True, slots=True)
class Conflict:
    """A source nothing is read of until a person acts."""

    session: str
    src: str
    reason: str


def conflicts(root: Root) -> list[Conflict]:
    """Every source in conflict, by session and source."""
    found = []
    for session in root.sessions():
        directory = root.session_dir(session)
        found += [
            Conflict(session, cursor.src, cursor.reason)
            for cursor in read_cursors(directory).values()
            if cursor.state == "conflict"
        ]
        found += [Conflict(session, src, reason) for src, reason in read_refused(directory)]
    return sorted(found, key=lambda conflict: (conflict.session, conflict.src))


def resolve(root: Root, source: str) -> Cursor:
    """Accept a source's file as it is now: the next pass reads it from its start, as a next reading
    whose records land under new sequences.

    :param source: the ``src`` or the path a conflict names.
    :raises NotFoundError: no source in conflict has that name, or several have.
    :raises BusyError: a collector has the session.
    """
    found = [
        (session, cursor.identity)
        for session in root.sessions()
        for cursor in read_cursors(root.session_dir(session)).values()
        if cursor.state == "conflict" and source in (cursor.src, cursor.path)
    ]
    if not found:
        raise NotFoundError(_hint(root, source))
    if len(found) > 1:
        raise NotFoundError(f"{source}: several sources have that name; give the whole path")
    session, identity = found[0]
    directory = root.session_dir(session)
    with hold(directory / ".lock"), SessionState.open(directory) as state:
        cursor = state.cursors()[identity]
        cursor.gen += 1
        cursor.ord = cursor.offset = 0
        cursor.digest, cursor.carry, cursor.reason = "", b"", ""
        cursor.size = -1
        cursor.state = "active"
        state.save([cursor])
    return cursor


def _hint(root: Root, source: str) -> str:
    for conflict in conflicts(root):
        if conflict.src == source:
            return (
                f"{source}: another file has its place; remove or move away the one that is not to "
                "be kept"
            )
    return f"{source}: no source in conflict has that name; see: asz sources --conflicts"
