"""What a pass has to do: discovery, and for each session whether it needs a turn at all.

A pass with nothing new must cost next to nothing: here no transcript is opened and no lock is taken.
"""

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from asz.collect.conflicts import conflict_line
from asz.collect.look import Look, look
from asz.collect.memory import Memory
from asz.collect.reading import location
from asz.collect.slots import Follower, by_slot, fingerprint
from asz.collect.turn import gone
from asz.collect.work import Entries, EntryId, Item, Report, Seen, Work
from asz.errors import AszError, NewerError
from asz.storage.cursors import Cursor
from asz.storage.names import safe_component
from asz.storage.root import Root
from asz_hookspecs import Discovery

Cursors = dict[tuple[str, str, str], Cursor]


@dataclass(slots=True)
class Plan:
    """Turns to take, and what is already known of the rest."""

    memory: Memory
    """How each session stands; to be saved when the pass is over."""
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


def discover(memory: Memory, entries: Entries, report: Report) -> _Found:
    """Ask every entry what there is."""
    found = _Found()

    def followed(session: str) -> frozenset[str]:
        if not safe_component(session):
            return frozenset()
        try:
            cursors = memory.of(session).cursors
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
    memory = Memory(root)
    made = Plan(memory)
    found = discover(memory, entries, made.report)
    root.check_apart(map(Path, found.roots))
    root.make()
    made.roots = tuple(found.roots)
    for session, items in found.items.items():
        try:
            _plan_session(memory, session, items, found.seen, made)
        except NewerError as error:
            made.report.error(str(error))
        except OSError:  # its directory cannot be looked at: its turn says so
            made.work.append(Work(session, tuple(items), found.seen))
    for session in root.sessions():
        if session not in found.items:
            try:
                _plan_unlisted(memory, session, found.seen, made)
            except NewerError as error:
                made.report.error(str(error))
    made.work.sort(key=lambda work: (-work.size, work.session))
    return made


def _plan_session(
    memory: Memory, session: str, items: list[Item], seen: dict[EntryId, Seen], made: Plan
) -> None:
    standing = memory.of(session)
    cursors = standing.by_identity()
    unread = _Unread(cursors, standing.copies)
    for candidates in by_slot(items):
        unread.look(candidates)
    listed = unread.followed
    if (
        unread.busy
        or standing.gap
        or any(i not in listed and gone(c, seen.get(i[:2])) for i, c in cursors.items())
    ):
        made.work.append(Work(session, tuple(items), seen, unread.size))
        return
    counts = made.report.counts
    counts.sessions += 1
    counts.sources += len(items)
    counts.copies += len(unread.copies)
    made.report.notes += unread.copies
    _leave(session, cursors, seen, made)


def _leave(session: str, cursors: Cursors, seen: dict[EntryId, Seen], made: Plan) -> None:
    """A session that needs no turn. What stays in conflict is named in every pass."""
    for identity, cursor in cursors.items():
        if cursor.state == "conflict" and identity[:2] in seen:
            made.report.conflict(conflict_line(cursor))
    made.to_parse.append(session)


@dataclass(slots=True)
class _Unread:
    """Finds out whether a session's sources need a turn."""

    cursors: Cursors
    known_copies: dict[str, str]
    follower: Follower = field(init=False)
    size: int = 0
    """Bytes on disk beyond the cursors."""
    busy: bool = False
    followed: set[tuple[str, str, str]] = field(default_factory=set)
    """Cursors whose files were found."""
    copies: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.follower = Follower(self.cursors)

    def look(self, candidates: list[Item]) -> None:
        """Look at the files of one slot."""
        for reading in self.follower.readings(candidates):
            if len(candidates) > 1 and reading.cursor is None:
                self._look_at_copy(reading.item, candidates)
            else:
                self._look_at(reading.item, reading.cursor)

    def _look_at(self, item: Item, cursor: Cursor | None) -> None:
        source = item.source
        if cursor is not None:
            self.followed.add(cursor.identity)
        if source.shape == "custom":
            self.busy = True
            return
        path = location(source)
        try:
            found = os.stat(path)
        except OSError:
            self.busy = True
            return
        moved = cursor is not None and cursor.path != path
        revived = cursor is not None and cursor.state == "source_gone"
        if look(source, cursor, found) in (Look.READ, Look.SHORTER) or moved or revived:
            self.busy = True
            self.size += max(0, found.st_size - (cursor.offset if cursor else 0))

    def _look_at_copy(self, item: Item, candidates: list[Item]) -> None:
        """A file beside one that is read needs no turn while neither of them changes."""
        own = fingerprint(item)
        original = self.known_copies.get(own) if own is not None else None
        if original is not None and any(fingerprint(other) == original for other in candidates):
            self.copies.append(f"{location(item.source)}: a copy of {original.rsplit('|', 3)[0]}")
        else:
            self.busy = True


def _plan_unlisted(memory: Memory, session: str, seen: dict[EntryId, Seen], made: Plan) -> None:
    """A session no entry found: its sources may have gone. It is checked until all of them have."""
    cursors = memory.of(session).by_identity()
    if any(gone(cursor, seen.get(identity[:2])) for identity, cursor in cursors.items()):
        made.work.append(Work(session, (), seen))
    else:
        _leave(session, cursors, seen, made)
