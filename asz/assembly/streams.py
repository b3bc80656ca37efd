"""Stage 2: streams, by the file a record was written in."""

from dataclasses import dataclass, field
from typing import Final

from asz.storage.rows import FLAG_BITS, RecordRow, SessionRows
from asz_hookspecs.vocabulary import STREAM_MAIN

MAIN: Final = "main"
CHILD: Final = "child"
AUXILIARY: Final = "auxiliary"
_AUXILIARY_BIT: Final = FLAG_BITS["auxiliary"]
_CHILD_RESULT_BIT: Final = FLAG_BITS["child_result"]


@dataclass(slots=True)
class Stream:
    """One stream that has landed."""

    name: str
    role: str
    """``main``, ``child`` or ``auxiliary``."""
    first: RecordRow
    """Its first record, a copy or not."""
    records: list[RecordRow] = field(default_factory=list)
    """Its own transcript records in landed order, copies left out."""
    label: str | None = None
    label_from_journal: bool = False
    started_by: str | None = None
    """The stream its sidecar names as its starter."""


def find(rows: SessionRows) -> dict[str, Stream]:
    """Every stream a transcript has landed for, main first, the others by name.

    Copies count here: a stream whose records all repeat another's is a stream all the same. The first
    record says whether the stream is a helper of the runtime's own.
    """
    named = {
        seq: file.stream
        for seq, file in rows.files.items()
        if file.kind == "transcript" and file.stream is not None
    }
    found: dict[str, Stream] = {}
    seq = -1
    for record in rows.records:
        if record.seq == seq:
            continue
        seq = record.seq
        name = named.get(seq)
        if name is not None and name not in found:
            found[name] = Stream(name, _role(name, record), record)
    return dict(sorted(found.items(), key=lambda item: (item[0] != STREAM_MAIN, item[0])))


def _role(name: str, first: RecordRow) -> str:
    if name == STREAM_MAIN:
        return MAIN
    return AUXILIARY if first.flags & _AUXILIARY_BIT else CHILD


def name_streams(
    streams: dict[str, Stream], records: list[RecordRow], kinds: dict[int, str]
) -> None:
    """Give each stream what is said of it elsewhere: a sidecar's label and starter, else the label of
    the last result a run journal has for it."""
    journalled: dict[str, str] = {}
    for record in records:
        child = record.child
        if child is None or child not in streams:
            continue
        kind = kinds[record.seq]
        if kind == "agent_meta":
            streams[child].label = record.label or streams[child].label
            streams[child].started_by = record.started_by or streams[child].started_by
        elif kind == "journal" and record.label and record.flags & _CHILD_RESULT_BIT:
            journalled[child] = record.label
    for child, label in journalled.items():
        if streams[child].label is None:
            streams[child].label = label
            streams[child].label_from_journal = True
