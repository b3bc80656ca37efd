"""The index: what assembly needs of a session's landed files, and nothing a person could read.

It is derived from landed files alone and can be deleted at any time. It says up to which sequence it
covers them; whoever holds the session's lock closes the gap between that and the disk.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from asz.storage.database import DamagedError, Schema, discard, open_database, read_database
from asz.storage.files import make_directory
from asz.storage.landed import LandedName, landed_names
from asz.storage.rows import FileRow, RecordRow, SessionRows, UsageRow, flag_bits, part_rows
from asz.storage.sd import LandedRecord, SdFile, read_file
from asz.storage.steps import Step, step
from asz.storage.times import parse_ns
from asz_hookspecs.record import Record

# One row a file, its records packed: read and written as a whole, a twentieth of the inserts.
_SCHEMA: Final = Schema(
    f"CREATE TABLE file({','.join(FileRow._fields)},rows,PRIMARY KEY(seq)) WITHOUT ROWID;",
    version=1,
    derived=True,
)
_INSERT: Final = f"INSERT INTO file VALUES({','.join('?' * (len(FileRow._fields) + 1))})"

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(list[RecordRow])

_Text = str | None
_Roles = tuple[
    int | None, _Text, _Text, _Text, _Text, _Text, _Text, _Text, _Text, _Text, _Text, _Text
]
_roles: Final[Callable[[Record | LandedRecord], _Roles]] = attrgetter(
    "rev", "id", "parent", "call", "run", "continues", "tool", "child", "batch", "started_by", "label",
    "from_",
)  # fmt: skip
_counts: Final = attrgetter("input", "output", "cache_read", "cache_write")


class RowBuilder:
    """Collects the rows of landed files until they are saved in one transaction."""

    def __init__(self) -> None:
        self.files: list[tuple[FileRow, list[RecordRow]]] = []
        self.records: list[RecordRow] = []
        """Of the file at hand, until ``end_file``."""

    def add_record(
        self, seq: int, row: int, ord_: int, off: int, sha: str, record: Record | LandedRecord
    ) -> None:
        """The row of one record, from what is being landed or from what was read again."""
        usage = record.usage
        self.records.append(
            RecordRow(
                seq,
                row,
                ord_,
                off,
                sha,
                *_roles(record),
                parse_ns(record.time) if record.time else None,
                record.trigger,
                flag_bits(record.flags) if record.flags else 0,
                record.model,
                None if usage is None else UsageRow(*_counts(usage)),
                part_rows(record.parts),
            )
        )

    def end_file(self, file: FileRow) -> None:
        """The records so far are those of ``file``."""
        self.files.append((file, self.records))
        self.records = []

    def add_file(self, name: LandedName, file: SdFile) -> None:
        """The rows of one landed file that was read back.

        :raises FormatError: a line of it is no record; nothing of the file is added.
        """
        header = file.header
        self.records = []
        for row, record in enumerate(file.records(), 1):
            self.add_record(name.seq, row, record.ord, record.off, record.sha, record)
        self.end_file(
            FileRow(
                name.seq,
                name.path,
                header.kind,
                header.src,
                header.gen or 0,
                header.stream,
                header.batch,
                header.runtime,
                len(file.lines),
                file.digest,
            )
        )


class Index:
    """The index of one session, opened by the holder of the session's lock."""

    def __init__(self, session_dir: Path, connection: sqlite3.Connection, rebuilt: bool) -> None:
        self.path = session_dir / "index" / "index.db"
        self._session_dir = session_dir
        self._connection = connection
        self.rebuilt = rebuilt
        """Whether a damaged one was put aside, so that everything is indexed again."""

    @classmethod
    def open(cls, session_dir: Path) -> "Index":
        """Open a session's index for writing; one that is damaged or of another schema starts anew."""
        directory = session_dir / "index"
        make_directory(directory)
        path = directory / "index.db"
        rebuilt = False
        try:
            connection = open_database(path, _SCHEMA)
            _check(path, connection)
        except DamagedError as error:
            discard(path)
            connection = open_database(path, _SCHEMA)
            rebuilt = not error.outdated
        # Derived data: what a power failure damages is built again, so no commit waits for the disk.
        connection.execute("PRAGMA synchronous=OFF")
        return cls(session_dir, connection, rebuilt)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def save(self, rows: RowBuilder) -> None:
        """Add the rows of files that are durable."""
        with step(Step.INDEX_SAVE):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for file, records in rows.files:
                    self._connection.execute(_INSERT, (*file, _ENCODER.encode(records)))
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close_gap(self, names: Iterable[LandedName]) -> int:
        """Index the landed files that are not; how many there were. Not only the newest: one that was
        missing may have been put back.

        :param names: the session's landed files, ascending.
        :raises FormatError: one of them is damaged. Nothing beyond it is indexed.
        """
        indexed = {seq for (seq,) in self._connection.execute("SELECT seq FROM file")}
        rows = RowBuilder()
        try:
            for name in names:
                if name.seq not in indexed:
                    rows.add_file(name, read_file(self._session_dir / name.path))
        finally:
            if rows.files:
                self.save(rows)
        return len(rows.files)


def _check(path: Path, connection: sqlite3.Connection) -> None:
    """Make sure that a database is an index as far as writing needs it.

    :raises DamagedError: other columns, or a sequence that is no number; the database is closed.
    """
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(file)")]
    if columns == [*FileRow._fields, "rows"]:
        kind = connection.execute("SELECT typeof(max(seq)) FROM file").fetchone()[0]
        if kind in ("integer", "null"):
            return
    connection.close()
    raise DamagedError(f"{path}: not an index")


def update(session_dir: Path) -> int:
    """Bring the index up to the disk; the caller holds the session's lock. How many files were added.

    :raises FormatError: a landed file is damaged.
    """
    with Index.open(session_dir) as index:
        return index.close_gap(landed_names(session_dir))


class Coverage(NamedTuple):
    """How much of a session is indexed, and which files those are."""

    through_seq: int = 0
    """Highest sequence; 0 when there is no index."""
    digest: str = ""
    """Over the digests of all files, in order: another one stands for other landed files."""


def coverage(session_dir: Path) -> Coverage:
    """What a session's index covers."""
    connection = read_database(session_dir / "index" / "index.db", _SCHEMA)
    if connection is None:
        return Coverage()
    with closing(connection):
        try:
            rows = connection.execute("SELECT seq,digest FROM file ORDER BY seq").fetchall()
        except (sqlite3.Error, UnicodeDecodeError):
            return Coverage()
    if not rows or not all(type(seq) is int for seq, _digest in rows):
        return Coverage()
    digest = hashlib.sha256("".join(str(digest) for _seq, digest in rows).encode()).hexdigest()
    return Coverage(rows[-1][0], digest)


def covered(session_dir: Path) -> int:
    """Highest sequence a session's index covers; 0 when there is none."""
    return coverage(session_dir).through_seq


def load(session_dir: Path, through_seq: int | None = None) -> SessionRows:
    """What the index holds of a session, through a watermark or through all it covers.

    When there is no index that can be read, as on a root copied to a read-only place, the rows are made
    from the landed files in memory.

    :raises FormatError: a landed file that had to be read is damaged.
    """
    connection = read_database(session_dir / "index" / "index.db", _SCHEMA)
    if connection is not None:
        with closing(connection):
            try:
                return _load(connection, session_dir.name, through_seq)
            except (sqlite3.DatabaseError, msgspec.MsgspecError, TypeError, ValueError):
                pass  # damaged, or other columns
    return _from_files(session_dir, through_seq)


def _load(connection: sqlite3.Connection, session: str, through_seq: int | None) -> SessionRows:
    limit = through_seq if through_seq is not None else (1 << 62)
    rows = RowBuilder()
    for *file, packed in connection.execute(
        "SELECT * FROM file WHERE seq<=? ORDER BY seq", (limit,)
    ):
        rows.files.append((FileRow(*file), _DECODER.decode(packed)))
    return _session_rows(session, rows)


def _from_files(session_dir: Path, through_seq: int | None) -> SessionRows:
    rows = RowBuilder()
    for name in landed_names(session_dir):
        if through_seq is None or name.seq <= through_seq:
            rows.add_file(name, read_file(session_dir / name.path))
    return _session_rows(session_dir.name, rows)


def _session_rows(session: str, rows: RowBuilder) -> SessionRows:
    files = {file.seq: file for file, _records in rows.files}
    records = [record for _file, records in rows.files for record in records]
    return SessionRows(session, max(files, default=0), files, records)
