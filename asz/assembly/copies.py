"""Stage 1: copies removed, over the whole session, before anything else.

A runtime that re-writes a block of records before a context reset writes them worse than the first
time: another run, another parent, tool output blanked. Nothing tells an original from a copy but where
it stands, so the first of equals is kept and nothing is taken from the later one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from asz.assembly.streams import AUXILIARY, CHILD, MAIN, Stream
from asz.storage.rows import RecordRow, SessionRows

_RANKS: Final = {MAIN: 0, CHILD: 1, AUXILIARY: 2}
_NO_STREAM: Final = 3


@dataclass(slots=True)
class Originals:
    """The records that count."""

    records: list[RecordRow]
    """In landed order, without copies and without change records."""
    by_id: dict[str, RecordRow]
    copies: int


def remove(rows: SessionRows, streams: Mapping[str, Stream]) -> Originals:
    """Decide for each record id which record is the original.

    The highest revision wins, then the main stream's, then a child's, then a helper stream's, then the
    first landed. A record without id is a copy only of itself: the same bytes at the same place of the
    same source, landed again after an interrupted pass.
    """
    files = rows.files
    ranks = {seq: _rank(streams.get(file.stream or "")) for seq, file in files.items()}
    aside = {seq for seq, file in files.items() if file.kind == "changes"}
    by_id: dict[str, RecordRow] = {}
    seen: set[tuple[str, str, int, int, str]] = set()
    anonymous: list[RecordRow] = []
    total = 0
    replaced = False
    for record in rows.records:
        if record.seq in aside:
            continue
        total += 1
        name = record.id
        if name is None:
            file = files[record.seq]
            key = (file.src, file.kind, record.ord, record.off, record.sha)
            if key not in seen:
                seen.add(key)
                anonymous.append(record)
            continue
        kept = by_id.setdefault(name, record)
        if kept is not record and _beats(record, kept, ranks):
            by_id[name] = record
            replaced = True
    records = [*by_id.values(), *anonymous]
    if anonymous or replaced:
        records.sort(key=lambda record: (record.seq, record.row))
    return Originals(records, by_id, total - len(records))


def _rank(stream: Stream | None) -> int:
    return _NO_STREAM if stream is None else _RANKS[stream.role]


def _beats(record: RecordRow, kept: RecordRow, ranks: Mapping[int, int]) -> bool:
    """Whether a record that landed later takes the place of the one kept so far."""
    revision, kept_revision = record.rev or 0, kept.rev or 0
    if revision != kept_revision:
        return revision > kept_revision
    return ranks[record.seq] < ranks[kept.seq]
