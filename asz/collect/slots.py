"""Two files for one place: which is read, which is its copy, and which is refused.

A session may lie in several directories, copied or moved. Two files must never share a cursor, and
nothing may be read twice.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from asz.collect.reading import BLOCK, UnreadableError, VanishedError, opened, path_of
from asz.collect.work import Item
from asz.storage.cursors import Cursor, SessionState


@dataclass(slots=True)
class Chosen:
    """Which items of a session are read."""

    items: list[Item] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """One line for each file that is a copy of the one that is read."""
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
        and (not item.source.root or cursor.path == path_of(item.source).as_posix())
    )


def _settle(best: Item, other: Item, state: SessionState, chosen: Chosen) -> Item:
    """Compare two candidates; the one to read."""
    verdict = _verdict(best, other, state)
    names = f"{_name(other)} and {_name(best)}"
    if verdict == "second continues":
        chosen.copies.append(f"{_name(best)}: a copy of the start of {_name(other)}")
        return other
    if verdict == "first continues":
        chosen.copies.append(f"{_name(other)}: a copy of {_name(best)}")
    elif verdict == "differ":
        chosen.refused.append(
            (other, f"{names} would land in one place and differ; the first is not read")
        )
    return best


def _name(item: Item) -> str:
    return path_of(item.source).as_posix() if item.source.root else item.source.src


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
        found = path_of(item.source).stat()
    except OSError:
        return None
    return f"{path_of(item.source)}|{found.st_size}|{found.st_dev}|{found.st_ino}"


def _compare(best: Item, other: Item) -> str:
    with contextlib.ExitStack() as stack:
        try:
            first, first_stat = stack.enter_context(opened(best.source))
            second, second_stat = stack.enter_context(opened(other.source))
        except (UnreadableError, VanishedError):
            return "differ"
        if os.path.samestat(first_stat, second_stat):
            return "first continues"
        while True:
            a, b = first.read(BLOCK), second.read(BLOCK)
            shared = min(len(a), len(b))
            if a[:shared] != b[:shared]:
                return "differ"
            if not b:
                return "first continues"
            if not a:
                return "second continues"
            if len(a) != len(b):
                # A short read is not the end: go on from where both are.
                first.seek(shared - len(a), os.SEEK_CUR)
                second.seek(shared - len(b), os.SEEK_CUR)
