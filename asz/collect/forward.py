"""Rolling a cursor forward over what landed beyond it.

After a crash between landing and saving, or when ``state.db`` was lost, landed files know more than
the cursor. When the source still holds the last landed record's bytes at its place, the cursor moves to
their end and nothing lands again.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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
from asz.storage.sd import SHA_DIGITS, LandedRecord, read_file, read_header

LandedByPlace = dict[tuple[str, str], list[LandedName]]
"""Landed files by kind and place, ascending."""


def by_place(names: Iterable[LandedName]) -> LandedByPlace:
    """Group a session's landed files."""
    found: LandedByPlace = {}
    for name in names:
        found.setdefault((name.kind, name.place), []).append(name)
    return found


def new_cursor(item: Item) -> Cursor:
    """The cursor of a source nothing landed from."""
    source = item.source
    adapter, label = item.entry
    return Cursor(
        adapter=adapter,
        label=label,
        key=source.cursor_key,
        src=source.src,
        kind=source.kind,
        shape=source.shape,
        path=location(source),
        place=item.place,
    )


@dataclass(slots=True)
class Ahead:
    """What landed of a source beyond its cursor."""

    gen: int
    last_seq: int
    records: list[LandedRecord]
    """Of the last file; of a custom source, of all files."""


def ahead_of(
    session_dir: Path, landed: LandedByPlace, item: Item, cursor: Cursor | None
) -> Ahead | None:
    """What landed from a source beyond its cursor, or ``None``.

    :raises FormatError: a file that must be read is damaged.
    """
    names = landed.get((item.source.kind, item.place), [])
    last_seq = cursor.last_seq if cursor else 0
    names = [name for name in names if name.seq > last_seq]
    if item.source.kind in MANY_IN_A_PLACE or item.source.shape == "custom":  # may be several
        names = [n for n in names if read_header(session_dir / n.path).src == item.source.src]
    if not names:
        return None
    wanted = names if item.source.shape == "custom" else names[-1:]
    records: list[LandedRecord] = []
    gen = 0
    for name in wanted:
        file = read_file(session_dir / name.path)
        gen = file.header.gen or 0
        records += file.records()
    return Ahead(gen, names[-1].seq, records)


def roll_forward(
    item: Item, cursor: Cursor, ahead: Ahead, adapter: AdapterCalls, window: int
) -> bool:
    """Move a cursor to the end of what landed; whether the source's bytes allow it.

    A document or custom source is not checked here: its next version or record is compared by digest.
    """
    if item.source.shape == "document":
        return _roll_document(cursor, ahead)
    last = ahead.records[-1]
    end = last.off + last.size + 1
    try:
        with opened(item.source) as (handle, _found):
            tail = skip_to(handle, last.off)
            line = read_exactly(handle, last.size + 1)
            if len(line) != last.size + 1 or not line.endswith(b"\n"):
                return False
            if hashlib.sha256(line[:-1]).hexdigest()[:SHA_DIGITS] != last.sha:
                return False
        carry = _carry_to(item, cursor, end, adapter, window)
    except (UnreadableError, VanishedError):
        return False
    cursor.gen = ahead.gen
    cursor.ord, cursor.offset = last.ord, end
    cursor.digest = tail_digest((tail + line)[-(1 << 20) :])
    cursor.carry = carry
    cursor.last_seq = ahead.last_seq
    return True


def _carry_to(item: Item, cursor: Cursor, end: int, adapter: AdapterCalls, window: int) -> bytes:
    """Convert again what lies between the cursor and ``end``, for the carry alone."""
    carry = cursor.carry
    with opened(item.source) as (handle, _found):
        reader = LineReader(handle, cursor.offset, skip_to(handle, cursor.offset), window)
        start = cursor.offset
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
