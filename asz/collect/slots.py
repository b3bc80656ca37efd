"""Two files for one place: which is read, and which is refused.

A session may lie in several directories, copied or moved. Two files must never share a cursor, and
nothing may be read twice.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Chosen:
    """Which items of a session are read."""

    items: list[Item] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    """One line for each name that leads to the file that is read under another one."""
    refused: list[tuple[Item, str]] = field(default_factory=list)
    """Each file that cannot land beside the one that is read, and why."""


def choose(
    items: Iterable[Item], cursors: dict[tuple[str, str, str], Cursor], state: SessionState
) -> Chosen:
    """One item for each slot, in landing order.

    Of several, a cursor's own comes first, then the order given. A file that continues the one chosen
    takes its place: its bytes begin with all of the other's.
    """
    slots: dict[tuple[str, str, str], list[Item]] = {}
    for item in items:
        slots.setdefault(item.slot, []).append(item)
    chosen = Chosen()
    for candidates in slots.values():
        candidates.sort(key=lambda item: not _followed(item, cursors))
        best = candidates[0]
        for other in candidates[1:]:
            best = _settle(best, other, state, chosen)
        chosen.items.append(best)
    chosen.items.sort(key=lambda item: item.landing_order)
    return chosen


def _followed(item: Item, cursors: dict[tuple[str, str, str], Cursor]) -> bool:
    cursor = cursors.get(item.identity)
    return (
        cursor is not None
        and cursor.state == "active"
        and cursor.src == item.source.src
        and cursor.path == location(item.source)
    )


def _settle(best: Item, other: Item, state: SessionState, chosen: Chosen) -> Item:
    """Compare two candidates; the one to read."""
    verdict = _verdict(best, other, state)
    if verdict == "same":
        chosen.same.append(f"{_name(other)}: the same file as {_name(best)}")
    elif verdict == "second continues":
        chosen.refused.append((best, _refusal(best, other, "the second goes on where it ends")))
        return other
    elif verdict == "first continues":
        chosen.refused.append((other, _refusal(other, best, "the second holds all of it")))
    elif verdict == "differ":
        chosen.refused.append((other, _refusal(other, best, "they differ")))
    return best


def _refusal(item: Item, read: Item, how: str) -> str:
    names = f"{_name(item)} and {_name(read)}"
    return f"{names} would land in one place, {how}; the first is not read; move away one of them"


def _name(item: Item) -> str:
    return location(item.source) or item.source.src


def _verdict(best: Item, other: Item, state: SessionState) -> str:
    """How two files relate, from memory when neither changed since they were compared."""
    kind, place, _script = best.slot
    first, second = _fingerprint(best), _fingerprint(other)
    if second is None or other.source.shape == "custom":
        return "differ" if other.source.shape == "custom" else "gone"
    if first is None:
        return "second continues"
    known = state.compared(place, kind, first, second)
    if known is None:
        known = _compare(best, other)
        state.remember(place, kind, first, second, known)
    return known


def _fingerprint(item: Item) -> str | None:
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
