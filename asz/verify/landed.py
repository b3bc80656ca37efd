"""The landed files of a session: whole, where their names say, and without a gap."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from asz.errors import FormatError
from asz.storage.cursors import Cursor, read_cursors
from asz.storage.landed import LandedName, landed_names
from asz.storage.root import Root
from asz.storage.sd import FILE_NAME, LandedRecord, SdFile, read_file
from asz.verify.problem import Problem, Tally, reason

_DOCUMENTS: Final = frozenset(("agent_meta", "workflow_manifest", "workflow_script"))
"""Kinds whose records are versions of a whole document, each at offset 0."""

ReadingKey = tuple[str, str, int]
"""``src``, kind and generation: one reading of one source."""


@dataclass(slots=True)
class Reading:
    """How far the landed records of one source go."""

    place: str
    ord: int = 0
    end: int = 0
    """Offset after the last record, its line end included."""
    first: int = 1
    """Number of the first record under this ``src``; above 1 when the source was renamed."""
    seen: list[tuple[int, str]] = field(default_factory=list)
    """Offset and digest of each record from ``first`` on."""


class LandedCheck:
    """Checks one session and keeps what the check of its chain needs."""

    def __init__(self, root: Root, session: str, tally: Tally) -> None:
        self._session = session
        self._directory = root.session_dir(session)
        self._tally = tally
        self._readings: dict[ReadingKey, Reading] = {}
        self._reading_of: dict[int, Reading] = {}
        self.names: dict[int, LandedName] = {}
        """Every landed file by sequence, readable or not."""
        self.digests: dict[int, str] = {}
        """Whole-file digest of every readable landed file."""
        self.parts: dict[int, array[int]] = {}
        """Number of parts of each record, by sequence; row 1 is the first."""

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong, file by file in landed order, then the cursors."""
        names = landed_names(self._directory)
        self._tally.sessions += 1 if names else 0
        for name in names:
            if name.seq in self.names:
                yield self._problem("has the sequence of another landed file", name)
                continue
            self.names[name.seq] = name
            try:
                file = read_file(self._directory / name.path)
            except FormatError as error:
                yield self._problem(reason(error, self._directory / name.path), name)
                continue
            yield from self._check_file(name, file)
        for cursor in read_cursors(self._directory).values():
            yield from self._check_cursor(cursor)

    def _check_file(self, name: LandedName, file: SdFile) -> Iterator[Problem]:
        self._tally.files += 1
        self.digests[name.seq] = file.digest
        for what in _header_problems(self._session, name, file):
            yield self._problem(what, name)
        header = file.header
        key = (header.src, header.kind, header.gen or 0)
        counts = array("I")
        try:
            for row, record in enumerate(file.records(), 1):
                counts.append(len(record.parts))
                misplaced = self._follow(key, name, record)
                if misplaced is not None:
                    yield self._problem(f"row {row}: {misplaced}", name)
        except FormatError as error:
            yield self._problem(reason(error, self._directory / name.path), name)
        self._tally.records += len(counts)
        self.parts[name.seq] = counts
        if key in self._readings:
            self._reading_of[name.seq] = self._readings[key]

    def _follow(self, key: ReadingKey, name: LandedName, record: LandedRecord) -> str | None:
        """Note one record of a reading; what is wrong with its place in the source, if anything."""
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = self._begin(key, name, record)
        document = key[1] in _DOCUMENTS
        if record.ord <= reading.ord:
            place = record.ord - reading.first
            if place >= 0 and reading.seen[place] == (record.off, record.sha):
                self._tally.replayed += 1
                return None
            return f"record {record.ord} of the source landed again with other bytes"
        expected, end = reading.ord + 1, reading.end
        missing = record.ord - expected
        reading.seen += [(-1, "")] * missing
        reading.seen.append((record.off, record.sha))
        reading.ord, reading.end = record.ord, record.off + record.size + 1
        if missing:
            return f"records {expected} to {record.ord - 1} of the source are missing"
        if record.off != end and not (document and record.off == 0):
            return (
                f"record {record.ord} begins at offset {record.off}, the one before ends at {end}"
            )
        return None

    def _begin(self, key: ReadingKey, name: LandedName, record: LandedRecord) -> Reading:
        """A new reading; a source that was renamed goes on where it ended under its old name."""
        if record.ord > 1:
            for (_, kind, gen), old in self._readings.items():
                same = (old.place, kind, gen) == (name.place, key[1], key[2])
                if same and (old.ord + 1, old.end) == (record.ord, record.off):
                    return Reading(name.place, old.ord, old.end, record.ord)
        return Reading(name.place)

    def _check_cursor(self, cursor: Cursor) -> Iterator[Problem]:
        """A cursor may lag behind the landed records after a crash; it may never be ahead of them."""
        where = f"{self._session}/state.db"
        if cursor.last_seq == 0:
            return
        reading = self._reading_of.get(cursor.last_seq)
        if reading is None:
            if cursor.last_seq not in self.names:
                what = f"the cursor of {cursor.src} follows a landed file that is not there"
                yield Problem(what, where, seq=cursor.last_seq)
            return
        if cursor.ord > reading.ord or (cursor.shape != "document" and cursor.offset > reading.end):
            what = (
                f"the cursor of {cursor.src} stands at record {cursor.ord}, offset {cursor.offset}; "
                f"landed records end at record {reading.ord}, offset {reading.end}"
            )
            yield Problem(what, where, seq=cursor.last_seq)

    def _problem(self, what: str, name: LandedName) -> Problem:
        return Problem(what, f"{self._session}/{name.path}", seq=name.seq)


def _header_problems(session: str, name: LandedName, file: SdFile) -> Iterator[str]:
    """Where a header and the place its file lies in differ."""
    header = file.header
    if header.seq != name.seq:
        yield f"the header says sequence {header.seq}"
    if header.session != session:
        yield f"the header says session {header.session}"
    if header.kind != name.kind:
        yield f"the header says kind {header.kind}"
    place = f"streams/{header.stream}" if header.stream is not None else f"runs/{header.batch}"
    if place != name.place:
        yield f"the header says it belongs to {place}"
    match = FILE_NAME.match(name.name)
    stamp = header.at.replace("-", "").replace(":", "")
    if match and match["stamp"] != stamp:
        yield f"the header says it landed at {header.at}"
