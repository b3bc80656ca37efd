"""What every stage after the first two looks at."""

from dataclasses import dataclass

from asz.assembly import copies, streams
from asz.assembly.runs import RunWalk
from asz.assembly.streams import Stream
from asz.storage.rows import RecordRow, SessionRows


@dataclass(slots=True)
class Evidence:
    """A session's records without copies, and where each was written."""

    session: str
    conversation: str
    records: list[RecordRow]
    """Of every kind but changes, in landed order."""
    by_id: dict[str, RecordRow]
    kinds: dict[int, str]
    """Landed file kind by sequence."""
    batches: dict[int, str | None]
    """Group of children a landed file belongs to, by sequence."""
    stream_of: dict[int, str]
    """Stream by sequence, of transcripts only."""
    streams: dict[str, Stream]
    walk: RunWalk

    def batch_of(self, record: RecordRow) -> str | None:
        """The group of children a record names, or its file belongs to."""
        return record.batch or self.batches[record.seq]


def gather(rows: SessionRows, conversation: str) -> Evidence:
    """Stages 1 and 2: remove copies, find the streams and what each is called."""
    files = rows.files
    found = streams.find(rows)
    originals = copies.remove(rows, found)
    kinds = {seq: file.kind for seq, file in files.items()}
    stream_of = {
        seq: file.stream
        for seq, file in files.items()
        if file.kind == "transcript" and file.stream is not None
    }
    for record in originals.records:
        name = stream_of.get(record.seq)
        if name is not None:
            found[name].records.append(record)
    streams.name_streams(found, originals.records, kinds)
    return Evidence(
        session=rows.session,
        conversation=conversation,
        records=originals.records,
        by_id=originals.by_id,
        kinds=kinds,
        batches={seq: file.batch for seq, file in files.items()},
        stream_of=stream_of,
        streams=found,
        walk=RunWalk(originals.by_id),
    )
