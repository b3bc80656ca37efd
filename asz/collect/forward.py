"""Rolling a cursor forward over what landed beyond it.

After a crash between landing and saving, or when ``state.db`` was lost, landed files know more than
the cursor. When the source still holds the last landed record's bytes at its place, the cursor moves to
their end and nothing lands again.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asz.collect.converting import convert
from asz.collect.reading import (
    LineReader,
    UnreadableError,
    VanishedError,
    location,
    opened,
    read_exactly,
    skip_to,
    tail_digest,
)
from asz.collect.work import MANY_IN_A_PLACE, AdapterCalls, Item
from asz.storage.cursors import Cursor
from asz.storage.landed import LandedName
from asz.storage.sd import SHA_DIGITS, Header, LandedRecord, read_file, read_header

LandedByPlace = dict[tuple[str, str], list[LandedName]]
"""Landed files by kind and place, ascending."""


def by_place(names: Iterable[LandedName]) -> LandedByPlace:
    """Group a session's landed files."""
    found: LandedByPlace = {}
    for name in names:
        found.setdefault((name.kind, name.place), []).append(name)
    return found


def new_cursor(item: Item, key: str = "") -> Cursor:
    """The cursor of a source nothing landed from.

    :param key: what to keep it under; empty: the source's own key.
    """
    source = item.source
    adapter, label = item.entry
    return Cursor(
        adapter=adapter,
        label=label,
        key=key or source.cursor_key,
        src=source.src,
        kind=source.kind,
        shape=source.shape,
        path=location(source),
        place=item.place,
    )


@dataclass(slots=True)
class Ahead:
    """What landed of one reading of a source beyond its cursor."""

    gen: int
    last_seq: int
    records: list[LandedRecord]
    """Of the last file; of a custom source, of all files."""


class Readings:
    """The readings a session has landed. Each has a number, by which it is told from others of its kind and
    place; where a place takes any number of sources, from others of its source."""

    def __init__(
        self, session_dir: Path, landed: LandedByPlace, cursors: Mapping[Any, Cursor]
    ) -> None:
        self._session_dir = session_dir
        self._landed = landed
        self._claimed: dict[tuple[str, str], dict[tuple[str, int], str]] = {}
        """By kind and place: the key of the cursor that each reading belongs to."""
        for cursor in cursors.values():
            self.claim(cursor)

    def claim(self, cursor: Cursor) -> None:
        """Note which reading a cursor follows."""
        src = cursor.src if _several(cursor.kind, cursor.shape) else ""
        claimed = self._claimed.setdefault((cursor.kind, cursor.place), {})
        claimed[src, cursor.gen] = cursor.key

    def next_gen(self, cursor: Cursor) -> int:
        """The number of a reading that a cursor begins now; 0 where nothing landed."""
        at = (cursor.kind, cursor.place)
        headers = map(self._header, self._landed.get(at, ()))
        if _several(cursor.kind, cursor.shape):
            claimed = [gen for src, gen in self._claimed.get(at, {}) if src == cursor.src]
            landed = [header.gen or 0 for header in headers if header.src == cursor.src]
        else:
            claimed = [gen for _src, gen in self._claimed.get(at, {})]
            landed = [header.gen or 0 for header in headers]
        return max((*claimed, *landed), default=-1) + 1

    def ahead_of(self, item: Item, cursor: Cursor) -> list[Ahead]:
        """What landed beyond a cursor, of every reading that may be its own, the newest first.

        :raises FormatError: a file that must be read is damaged.
        """
        source = item.source
        names = self._landed.get((source.kind, item.place), [])
        claimed = self._claimed.get((source.kind, item.place), {})
        several = _several(source.kind, source.shape)
        beyond: dict[int, list[LandedName]] = {}
        for name in names:
            if name.seq > cursor.last_seq:
                header = self._header(name)
                reading = (header.src if several else "", header.gen or 0)
                own = claimed.get(reading, cursor.key) == cursor.key
                if own and (not several or header.src == source.src):
                    beyond.setdefault(reading[1], []).append(name)
        return [
            self._ahead(item, gen, names) for gen, names in sorted(beyond.items(), reverse=True)
        ]

    def _ahead(self, item: Item, gen: int, names: list[LandedName]) -> Ahead:
        wanted = names if item.source.shape == "custom" else names[-1:]
        files = (read_file(self._session_dir / name.path) for name in wanted)
        return Ahead(gen, names[-1].seq, [record for file in files for record in file.records()])

    def _header(self, name: LandedName) -> Header:
        return read_header(self._session_dir / name.path)


def _several(kind: str, shape: str) -> bool:
    """Whether sources of one kind and place are told apart by their ``src``."""
    return kind in MANY_IN_A_PLACE or shape == "custom"


def roll_forward(
    item: Item, cursor: Cursor, ahead: Ahead, adapter: AdapterCalls, window: int
) -> bool:
    """Move a cursor to the end of what landed; whether the source's bytes allow it. Else it stays.

    A document or custom source is not checked here: its next version or record is compared by digest.
    """
    if item.source.shape == "document":
        return _roll_document(cursor, ahead)
    last = ahead.records[-1]
    end = last.off + last.size + 1
    same = cursor.gen == ahead.gen
    offset, carry = (cursor.offset, cursor.carry) if same else (0, b"")
    try:
        with opened(item.source) as (handle, _found):
            tail = skip_to(handle, last.off)
            line = read_exactly(handle, last.size + 1)
            if len(line) != last.size + 1 or not line.endswith(b"\n"):
                return False
            if hashlib.sha256(line[:-1]).hexdigest()[:SHA_DIGITS] != last.sha:
                return False
        carry = _carry_to(item, offset, end, carry, adapter, window)
    except (UnreadableError, VanishedError):
        return False
    cursor.gen = ahead.gen
    cursor.ord, cursor.offset = last.ord, end
    cursor.digest = tail_digest((tail + line)[-(1 << 20) :])
    cursor.carry = carry
    cursor.last_seq = ahead.last_seq
    return True


def _carry_to(
    item: Item, start: int, end: int, carry: bytes, adapter: AdapterCalls, window: int
) -> bytes:
    """Convert again what lies between two offsets, for the carry alone."""
    with opened(item.source) as (handle, _found):
        reader = LineReader(handle, start, skip_to(handle, start), window)
        while start < end and (found := reader.next()) is not None:
            data = found.data[: end - start]
            start += len(data)
            carry = convert(adapter, item.source, data[:-1].split(b"\n"), carry).carry
    return carry


def _roll_document(cursor: Cursor, ahead: Ahead) -> bool:
    last = ahead.records[-1]
    cursor.gen, cursor.ord, cursor.last_seq = ahead.gen, last.ord, ahead.last_seq
    cursor.digest = last.sha  # a prefix; the next read completes or replaces it
    return True
