"""Several files for one place: which are read, and which are copies of those.

A session may lie in several directories, copied, moved or gone on with on two machines. Two files must
never share a cursor, and nothing may be read twice: a copy is not read, and of two files that differ each
is a reading of its own.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from asz.collect.reading import (
    BLOCK,
    SourceFile,
    UnreadableError,
    VanishedError,
    location,
    opened,
    read_exactly,
)
from asz.collect.work import Item
from asz.storage.cursors import Cursor, SessionState

Cursors = Mapping[tuple[str, str, str], Cursor]


@dataclass(slots=True)
class Reading:
    """A file that is read, and the cursor that follows it; ``None``: nothing of it was read."""

    item: Item
    cursor: Cursor | None
    differs_from: str = ""
    """Path of a file that has the place already, when this one is new beside it."""


@dataclass(slots=True)
class Chosen:
    """What of a session is read, in landing order."""

    readings: list[Reading] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """One line for each file that another one holds all of, or is."""


def choose(items: Iterable[Item], cursors: Cursors, state: SessionState) -> Chosen:
    """What is read of each slot. Of several files, those a cursor follows come first, then the order given.
    A file that continues another takes its place and its cursor: its bytes begin with all of the other's."""
    chosen = Chosen()
    follower = Follower(cursors)
    for candidates in by_slot(items):
        pairs = follower.readings(candidates)
        pairs.sort(key=lambda pair: pair.cursor is None)
        taken: list[Reading] = []
        for pair in pairs:
            _settle(taken, pair, state, chosen.copies)
        chosen.readings += taken
    chosen.readings.sort(key=lambda reading: reading.item.landing_order)
    return chosen


def by_slot(items: Iterable[Item]) -> list[list[Item]]:
    """The items that compete with each other, together."""
    slots: dict[tuple[str, str, str], list[Item]] = {}
    for item in items:
        slots.setdefault(item.slot, []).append(item)
    return list(slots.values())


class Follower:
    """Finds the cursor of each file of a session."""

    def __init__(self, cursors: Cursors) -> None:
        self._cursors = cursors

    @cached_property
    def _by_path(self) -> dict[tuple[str, str, str, str, str], Cursor]:
        return {
            (cursor.adapter, cursor.label, cursor.kind, cursor.place, cursor.path): cursor
            for cursor in self._cursors.values()
            if cursor.path
        }

    def readings(self, items: Sequence[Item]) -> list[Reading]:
        """The files of one slot, each with the cursor that followed it, else with the one of its key, as
        when it was moved."""
        own = [self._cursors.get(item.identity) for item in items]
        if len(items) > 1 or own[0] is None or own[0].path != _path(items[0]):
            at = [self._by_path.get((*item.entry, *item.slot[:2], _path(item))) for item in items]
            taken = {cursor.identity for cursor in at if cursor is not None}
            for number, (cursor, of_key) in enumerate(zip(at, own, strict=True)):
                if cursor is not None:
                    own[number] = cursor
                elif of_key is not None and of_key.identity in taken:
                    own[number] = None
                elif of_key is not None:
                    taken.add(of_key.identity)
        return [Reading(item, cursor) for item, cursor in zip(items, own, strict=True)]


def _path(item: Item) -> str:
    return location(item.source)


def further_key(item: Item, cursors: Cursors) -> str:
    """A key for a file beside one that has the item's own."""
    number = 2
    while (*item.entry, key := f"{item.source.cursor_key} ({number})") in cursors:
        number += 1
    return key


def _settle(taken: list[Reading], new: Reading, state: SessionState, copies: list[str]) -> None:
    """Put a file among those that are read, or name it as a copy."""
    if new.cursor is None:
        for reading in taken:
            verdict = _verdict(reading.item, new.item, state)
            if verdict == "gone":
                return
            if verdict in ("same", "first continues"):
                copies.append(_copy(new.item, reading.item))
                return
            if verdict == "second continues":
                copies.append(_copy(reading.item, new.item))
                reading.item = new.item
                return
        if taken:
            new.differs_from = _name(taken[0].item)
    taken.append(new)


def _copy(item: Item, read: Item) -> str:
    return f"{_name(item)}: a copy; {_name(read)} holds all of it and is read"


def _name(item: Item) -> str:
    return location(item.source) or item.source.src


def _verdict(best: Item, other: Item, state: SessionState) -> str:
    """How two files relate, from memory when neither changed since they were compared."""
    if "custom" in (best.source.shape, other.source.shape):
        return "differ"
    kind, place, _script = best.slot
    first, second = fingerprint(best), fingerprint(other)
    if second is None:
        return "gone"
    if first is None:
        return "second continues"
    known = state.compared(place, kind, first, second)
    if known is None:
        known = _compare(best, other)
        state.remember(place, kind, first, second, known)
    return known


def fingerprint(item: Item) -> str | None:
    """Path, size and identity of a candidate; ``None`` when it is not there."""
    try:
        found = os.stat(location(item.source))
    except OSError:
        return None
    return f"{location(item.source)}|{found.st_size}|{found.st_dev}|{found.st_ino}"


def _compare(best: Item, other: Item) -> str:
    try:
        with opened(best.source) as (first, its_stat), opened(other.source) as (second, stat):
            if os.path.samestat(its_stat, stat):
                return "same"
            return _compare_bytes(first, second)
    except (UnreadableError, VanishedError):
        return "differ"


def _compare_bytes(first: SourceFile, second: SourceFile) -> str:
    while True:
        a, b = read_exactly(first, BLOCK), read_exactly(second, BLOCK)
        shared = min(len(a), len(b))
        if a[:shared] != b[:shared]:
            return "differ"
        if shared == len(b) < BLOCK:
            return "first continues"
        if shared < BLOCK:
            return "second continues"
