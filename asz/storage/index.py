"""The index: what assembly needs of a session's landed files, and nothing a person could read.

It is derived from landed files alone and can be deleted at any time. It says up to which sequence it
covers them; whoever holds the session's lock closes the gap between that and the disk.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from asz.storage.database import DamagedError, discard, open_database, read_database
from asz.storage.files import make_directory
from asz.storage.landed import LandedName, landed_names
from asz.storage.rows import (
    FileRow,
    PartRow,
    RecordRow,
    SessionRows,
    UsageRow,
    flag_bits,
    part_rows,
)
from asz.storage.sd import LandedRecord, SdFile, read_file
from asz.storage.steps import Step, step
from asz.storage.times import parse_ns
from asz_hookspecs.record import Record

VERSION: Final = 1
"""Schema version; another one on disk is discarded and built again."""

_FILE_COLUMNS: Final = FileRow._fields
_PLAIN: Final = (
    "rev", "id", "parent", "call", "run", "continues", "tool", "child", "batch", "started_by", "label",
    "from_",
)  # fmt: skip
_RECORD_COLUMNS: Final = (
    "seq", "row", "ord", "off", "sha", *_PLAIN, "time", "trigger", "flags", "model",
    "input", "output", "cache_read", "cache_write",
)  # fmt: skip
_PART_COLUMNS: Final = ("seq", "row", "block", "kind", "id", "name", "failed")


def _table(name: str, columns: Sequence[str], key: str) -> str:
    quoted = ",".join(f'"{column}"' for column in columns)
    return f"CREATE TABLE {name}({quoted},PRIMARY KEY({key})) WITHOUT ROWID;"


def _insert(name: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {name} VALUES({','.join('?' * len(columns))})"


_SCHEMA: Final = (
    _table("file", _FILE_COLUMNS, "seq")
    + _table("record", _RECORD_COLUMNS, "seq,row")
    + _table("part", _PART_COLUMNS, "seq,row,block")
)
_INSERT_FILE: Final = _insert("file", _FILE_COLUMNS)
_INSERT_RECORD: Final = _insert("record", _RECORD_COLUMNS)
_INSERT_PART: Final = _insert("part", _PART_COLUMNS)

IndexRow = tuple[Any, ...]


class RowBuilder:
    """Collects the rows of landed files until they are saved in one transaction."""

    def __init__(self) -> None:
        self.files: list[FileRow] = []
        self.records: list[IndexRow] = []
        self.parts: list[IndexRow] = []

    def add_record(
        self, seq: int, row: int, ord_: int, off: int, sha: str, record: Record | LandedRecord
    ) -> None:
        """The rows of one record, from what is being landed or from what was read again."""
        usage = record.usage
        counts = (None,) * 4 if usage is None else _counts(usage)
        self.records.append(
            (
                seq,
                row,
                ord_,
                off,
                sha,
                *_plain(record),
                parse_ns(record.time) if record.time else None,
                record.trigger,
                flag_bits(record.flags) if record.flags else 0,
                record.model,
                *counts,
            )
        )
        for part in part_rows(record.parts):
            self.parts.append((seq, row, *part))

    def add_file(self, name: LandedName, file: SdFile) -> None:
        """The rows of one landed file that was read back.

        :raises FormatError: a line of it is no record.
        """
        header = file.header
        for row, record in enumerate(file.records(), 1):
            self.add_record(name.seq, row, record.ord, record.off, record.sha, record)
        self.files.append(
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


_plain = attrgetter(*_PLAIN)
_counts = attrgetter("input", "output", "cache_read", "cache_write")


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
            connection = open_database(path, _SCHEMA, VERSION)
        except DamagedError as error:
            discard(path)
            connection = open_database(path, _SCHEMA, VERSION)
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

    def covered(self) -> int:
        """Highest sequence covered; 0 when empty."""
        found = self._connection.execute("SELECT max(seq) FROM file").fetchone()[0]
        return int(found or 0)

    def save(self, rows: RowBuilder) -> None:
        """Add the rows of files that are durable."""
        with step(Step.INDEX_SAVE):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(_INSERT_RECORD, rows.records)
                self._connection.executemany(_INSERT_PART, rows.parts)
                self._connection.executemany(_INSERT_FILE, rows.files)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close_gap(self, names: Iterable[LandedName]) -> int:
        """Index the landed files beyond what is covered; how many there were.

        :param names: the session's landed files, ascending.
        :raises FormatError: one of them is damaged. Nothing beyond it is indexed.
        """
        covered = self.covered()
        count = 0
        rows = RowBuilder()
        try:
            for name in names:
                if name.seq > covered:
                    rows.add_file(name, read_file(self._session_dir / name.path))
                    count += 1
                    if len(rows.records) > 20_000:
                        self.save(rows)
                        rows = RowBuilder()
        finally:
            if rows.files:
                self.save(_whole_files(rows))
        return count


def _whole_files(rows: RowBuilder) -> RowBuilder:
    """Without the rows of a file that failed half way."""
    whole = {file.seq for file in rows.files}
    rows.records = [row for row in rows.records if row[0] in whole]
    rows.parts = [row for row in rows.parts if row[0] in whole]
    return rows


def update(session_dir: Path) -> int:
    """Bring the index up to the disk; the caller holds the session's lock. How many files were added.

    :raises FormatError: a landed file is damaged.
    """
    names = landed_names(session_dir)
    with Index.open(session_dir) as index:
        try:
            return index.close_gap(names)
        except sqlite3.IntegrityError:
            # Covered out of order, as after files were copied in by hand: build it anew.
            index._connection.executescript("DELETE FROM file;DELETE FROM record;DELETE FROM part;")
            return index.close_gap(names)


def covered(session_dir: Path) -> int:
    """Highest sequence a session's index covers; 0 when there is none."""
    connection = read_database(session_dir / "index" / "index.db", VERSION)
    if connection is None:
        return 0
    with closing(connection):
        try:
            return int(connection.execute("SELECT max(seq) FROM file").fetchone()[0] or 0)
        except sqlite3.Error:
            return 0


def load(session_dir: Path, through_seq: int | None = None) -> SessionRows:
    """What the index holds of a session, through a watermark or through all it covers.

    When there is no index that can be read, as on a root copied to a read-only place, the rows are made
    from the landed files in memory.

    :raises FormatError: a landed file that had to be read is damaged.
    """
    connection = read_database(session_dir / "index" / "index.db", VERSION)
    if connection is not None:
        with closing(connection):
            try:
                return _load(connection, session_dir.name, through_seq)
            except sqlite3.DatabaseError:
                pass
    return _from_files(session_dir, through_seq)


def _load(connection: sqlite3.Connection, session: str, through_seq: int | None) -> SessionRows:
    connection.execute("BEGIN")  # one moment for all three tables, beside a writer
    limit = through_seq if through_seq is not None else (1 << 62)
    files = connection.execute("SELECT * FROM file WHERE seq<=?", (limit,)).fetchall()
    records = connection.execute(
        "SELECT * FROM record WHERE seq<=? ORDER BY seq,row", (limit,)
    ).fetchall()
    parts = connection.execute(
        "SELECT * FROM part WHERE seq<=? ORDER BY seq,row,block", (limit,)
    ).fetchall()
    connection.execute("COMMIT")
    return _session_rows(session, [FileRow(*file) for file in files], records, parts)


def _from_files(session_dir: Path, through_seq: int | None) -> SessionRows:
    rows = RowBuilder()
    for name in landed_names(session_dir):
        if through_seq is None or name.seq <= through_seq:
            rows.add_file(name, read_file(session_dir / name.path))
    return _session_rows(session_dir.name, rows.files, rows.records, rows.parts)


def _session_rows(
    session: str, files: list[FileRow], records: list[IndexRow], parts: list[IndexRow]
) -> SessionRows:
    by_record: dict[tuple[int, int], list[PartRow]] = {}
    for seq, row, block, kind, id_, name, failed in parts:
        known = None if failed is None else bool(failed)
        by_record.setdefault((seq, row), []).append(PartRow(block, kind, id_, name, known))
    found = []
    for values in records:
        record = RecordRow(*values[:-4])
        if values[-4] is not None:
            record.usage = UsageRow(*values[-4:])
        record.parts = tuple(by_record.get(values[:2], ()))
        found.append(record)
    through = max((file.seq for file in files), default=0)
    return SessionRows(session, through, {file.seq: file for file in files}, found)
