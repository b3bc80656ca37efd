"""What a pass has to do: discovery, and for each session whether it needs a turn at all.

A pass with nothing new must cost next to nothing: here no transcript is opened and no lock is taken.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from asz.collect.look import Look, look
from asz.collect.reading import location
from asz.collect.sources import conflict_line
from asz.collect.turn import gone
from asz.collect.work import Entries, EntryId, Item, Report, Seen, Work
from asz.errors import AszError, NewerError
from asz.storage.cursors import Cursor, read_cursors
from asz.storage.index import covered
from asz.storage.landed import last_landed
from asz.storage.names import safe_component
from asz.storage.root import Root
from asz_hookspecs import Discovery

Cursors = dict[tuple[str, str, str], Cursor]


@dataclass(slots=True)
class Plan:
    """Turns to take, and what is already known of the rest."""

    work: list[Work] = field(default_factory=list)
    """Largest session first, so that no core idles while the last one works."""
    to_parse: list[str] = field(default_factory=list)
    """Sessions with nothing to land; their chains may still be behind."""
    report: Report = field(default_factory=Report)
    roots: tuple[str, ...] = ()
    """Directories that were looked at."""


@dataclass(slots=True)
class _Found:
    """All entries' discoveries together."""

    items: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[EntryId, Seen] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)


def discover(root: Root, entries: Entries, report: Report) -> _Found:
    """Ask every entry what there is."""
    found = _Found()

    def followed(session: str) -> frozenset[str]:
        if not safe_component(session):
            return frozenset()
        try:
            cursors = read_cursors(root.session_dir(session)).values()
        except NewerError:  # said once, when the session is planned
            return frozenset()
        return frozenset(cursor.src for cursor in cursors if cursor.state == "active")

    for entry, adapter in entries.items():
        try:
            discovery = adapter.discover(adapter.options, followed)
        except AszError as error:
            report.error(str(error))
            continue
        _add(found, entry, discovery, report)
    return found


def _add(found: _Found, entry: EntryId, discovery: Discovery, report: Report) -> None:
    found.roots += discovery.roots
    for problem in discovery.problems:
        report.error(problem.message)
    report.counts.skipped += len(discovery.skipped)
    report.notes += discovery.skipped
    report.notes += discovery.notes
    hidden = tuple(p.hides for p in discovery.problems if p.hides is not None)
    found.seen[entry] = Seen(hidden, discovery.complete)
    for session in discovery.sessions:
        if session.sources:
            found.items[session.id] += [Item(entry, source) for source in session.sources]


def plan(root: Root, entries: Entries) -> Plan:
    """Look at everything; no source is opened. The root is made only once it is known to lie apart.

    :raises RootError: the root and a source root lie one inside the other, or it cannot be made.
    """
    made = Plan()
    found = discover(root, entries, made.report)
    root.check_apart(map(Path, found.roots))
    root.make()
    made.roots = tuple(found.roots)
    for session, items in found.items.items():
        try:
            _plan_session(root, session, items, found.seen, made)
        except NewerError as error:
            made.report.error(str(error))
        except OSError:  # its directory cannot be looked at: its turn says so
            made.work.append(Work(session, tuple(items), found.seen))
    for session in root.sessions():
        if session not in found.items:
            try:
                _plan_unlisted(root, session, found.seen, made)
            except NewerError as error:
                made.report.error(str(error))
    made.work.sort(key=lambda work: (-work.size, work.session))
    return made


def _plan_session(
    root: Root, session: str, items: list[Item], seen: dict[EntryId, Seen], made: Plan
) -> None:
    directory = root.session_dir(session)
    cursors = read_cursors(directory)
    size, busy = _unread(items, cursors)
    listed = {item.identity for item in items}
    if (
        busy
        or len({item.slot for item in items}) < len(items)
        or any(i not in listed and gone(c, seen.get(i[:2])) for i, c in cursors.items())
        or covered(directory) < last_landed(directory)
    ):
        made.work.append(Work(session, tuple(items), seen, size))
        return
    counts = made.report.counts
    counts.sessions += 1
    counts.sources += len(items)
    _leave(session, cursors, seen, made)


def _leave(session: str, cursors: Cursors, seen: dict[EntryId, Seen], made: Plan) -> None:
    """A session that needs no turn. What is in conflict is named in every pass, also when its file has
    gone: it stays so until a person acts."""
    for identity, cursor in cursors.items():
        if cursor.state == "conflict" and identity[:2] in seen:
            made.report.conflict(conflict_line(cursor))
    made.to_parse.append(session)


def _unread(items: Iterable[Item], cursors: Cursors) -> tuple[int, bool]:
    """Bytes on disk beyond the cursors, and whether any source needs a turn."""
    size, busy = 0, False
    for item in items:
        source = item.source
        cursor = cursors.get(item.identity)
        if source.shape == "custom":
            busy = True
            continue
        path = location(source)
        try:
            found = os.stat(path)
        except OSError:
            busy = True
            continue
        moved = cursor is not None and cursor.path != path
        verdict = look(source, cursor, found)
        revived = cursor is not None and cursor.state == "source_gone"
        if verdict in (Look.READ, Look.SHORTER) or moved or revived:
            busy = True
            size += max(0, found.st_size - (cursor.offset if cursor else 0))
    return size, busy


def _plan_unlisted(root: Root, session: str, seen: dict[EntryId, Seen], made: Plan) -> None:
    """A session no entry found: its sources may have gone. It is checked until all of them have."""
    cursors = read_cursors(root.session_dir(session))
    if any(gone(cursor, seen.get(identity[:2])) for identity, cursor in cursors.items()):
        made.work.append(Work(session, (), seen))
    else:
        _leave(session, cursors, seen, made)
