"""Cursors: how far each source was read. Local state in ``state.db``; lost, it is made again.

A cursor is saved only after the files it covers are durable. It therefore never claims more than what
landed, and may lag behind it after a crash; asz.collect then rolls it forward.
"""

import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from asz.storage.database import DamagedError, Schema, open_database, put_aside, read_database
from asz.storage.steps import Step, step

TAIL_BYTES: Final = 1 << 20
"""How much before a cursor's offset is digested to recognise the file again."""

State = Literal["active", "source_gone", "conflict"]


class Cursor(msgspec.Struct, kw_only=True, array_like=True, gc=False):
    """How far one source was read. Which fields carry meaning depends on ``shape``."""

    adapter: str
    label: str
    """The configuration entry's label; empty for the only one."""
    key: str
    """Stable name the adapter gives the source; of a further file for the same place, with its number."""
    src: str
    kind: str
    shape: str
    path: str
    """Absolute path last seen, forward slashes; empty for a custom source."""
    place: str
    """Where its records land: ``streams/<stream>`` or ``runs/<batch>``."""
    state: State = "active"
    reason: str = ""
    """On a conflict: why."""
    gen: int = 0
    """Which reading of the source this is, from 0."""
    last_seq: int = 0
    """Last landed sequence."""
    ord: int = 0
    """Records consumed; on a document: versions."""
    offset: int = 0
    """Bytes consumed, of the decompressed stream."""
    device: int = 0
    inode: int = 0
    size: int = 0
    """Size at the last read; for lines, the one at which no further complete line was found."""
    mtime_ns: int = 0
    ctime_ns: int = 0
    read_at_ns: int = 0
    digest: str = ""
    """Lines: SHA-256 of the 1 MiB before ``offset``. Document: SHA-256 of the content."""
    carry: bytes = b""
    position: bytes = b""
    """Custom: where the adapter continues."""
    updated_at: int = 0
    """Nanoseconds since the epoch."""
    gone_at: int = 0
    """When the source was found gone, nanoseconds since the epoch; 0 while it is there."""

    @property
    def identity(self) -> tuple[str, str, str]:
        """What a cursor is kept under."""
        return (self.adapter, self.label, self.key)

    def begin_again(self, gen: int) -> None:
        """Stand at the start of the source once more, for a reading with the number ``gen``."""
        self.gen = gen
        self.ord = self.offset = 0
        self.digest, self.carry, self.reason = "", b"", ""
        self.size = -1
        self.state = "active"


class Conflict(NamedTuple):
    """A source that was not what its cursor knew, or a second file for one place."""

    adapter: str
    label: str
    key: str
    src: str
    at_ns: int
    """When it was found, since the epoch."""
    reason: str
    gen: int
    """Which reading it landed as, from 0; -1 when nothing was read of it."""


_COLUMNS: Final = Cursor.__struct_fields__
_CONFLICTS: Final = "CREATE TABLE conflict(adapter,label,key,src,at_ns,reason,gen)"
_CONFLICTS_LANDED: Final = (
    "INSERT INTO conflict SELECT adapter,label,key,src,updated_at,reason,gen+1 FROM cursor "
    "WHERE state='conflict'"
)
_CONFLICTS_READ_AGAIN: Final = (
    "UPDATE cursor SET state='active',gen=gen+1,ord=0,offset=0,digest='',carry=x'',reason='',size=-1 "
    "WHERE state='conflict'"
)
"""What was in conflict waited for a person; now it lands as the next reading by itself."""

_SCHEMA: Final = Schema(
    f"CREATE TABLE cursor({','.join(_COLUMNS)},PRIMARY KEY(adapter,label,key)) WITHOUT ROWID;"
    "CREATE TABLE compared(place,kind,first,second,verdict,"
    "PRIMARY KEY(place,kind,first,second)) WITHOUT ROWID;"
    "CREATE TABLE fact(name PRIMARY KEY,value) WITHOUT ROWID;"
    f"{_CONFLICTS};",
    version=2,
    migrations={
        1: (
            "ALTER TABLE cursor ADD COLUMN gone_at DEFAULT 0",
            "UPDATE cursor SET gone_at=updated_at WHERE state='source_gone'",
            "DROP TABLE refused",
            _CONFLICTS,
            _CONFLICTS_LANDED,
            _CONFLICTS_READ_AGAIN,
        )
    },
)
_SAVE: Final = f"INSERT OR REPLACE INTO cursor VALUES({','.join('?' * len(_COLUMNS))})"


class SessionState:
    """A session's ``state.db``, opened by the holder of the session's lock."""

    def __init__(self, path: Path, connection: sqlite3.Connection, rebuilt: bool) -> None:
        self.path = path
        self._connection = connection
        self.rebuilt = rebuilt
        """Whether a damaged one was put aside, so that every cursor is rolled forward from nothing."""

    @classmethod
    def open(cls, session_dir: Path) -> "SessionState":
        """Open a session's state, anew when there is none or a damaged one."""
        path = session_dir / "state.db"
        try:
            state = cls(path, open_database(path, _SCHEMA), rebuilt=False)
            state.check()
            return state
        except DamagedError:
            put_aside(path)
            return cls(path, open_database(path, _SCHEMA), rebuilt=True)

    def check(self) -> None:
        """Make sure that every row can be a cursor.

        :raises DamagedError: one cannot; the database is closed.
        """
        try:
            _cursors(self._connection)
        except _NO_CURSOR as error:
            self.close()
            raise DamagedError(f"{self.path}: {error}") from error

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> "SessionState":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def cursors(self) -> dict[tuple[str, str, str], Cursor]:
        """Every cursor, by identity."""
        return _cursors(self._connection)

    def save(self, cursors: Iterable[Cursor], conflicts: Iterable[Conflict] = ()) -> None:
        """Save cursors, and what was found of them, in one transaction. What they cover must be durable."""
        now = time.time_ns()
        with step(Step.CURSOR_SAVE):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for cursor in cursors:
                    cursor.updated_at = now
                    self._connection.execute(_SAVE, msgspec.structs.astuple(cursor))
                self._connection.executemany(
                    "INSERT INTO conflict VALUES(?,?,?,?,?,?,?)", conflicts
                )
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def conflicts_since(self, cursor: Cursor, since_ns: int) -> int:
        """How often a source was in conflict after a moment."""
        query = "SELECT count(*) FROM conflict WHERE adapter=? AND label=? AND key=? AND at_ns>?"
        return int(self._connection.execute(query, (*cursor.identity, since_ns)).fetchone()[0])

    def compared(self, place: str, kind: str, first: str, second: str) -> str | None:
        """What an earlier comparison of two files found.

        :param first: path, size and inode of a file as one text; ``second`` likewise.
        """
        found = self._connection.execute(
            "SELECT verdict FROM compared WHERE place=? AND kind=? AND first=? AND second=?",
            (place, kind, first, second),
        ).fetchone()
        return None if found is None else str(found[0])

    def remember(self, place: str, kind: str, first: str, second: str, verdict: str) -> None:
        """Keep a comparison's result until one of the files changes."""
        self._connection.execute(
            "DELETE FROM compared WHERE place=? AND kind=? AND (first=? OR second=?)",
            (place, kind, first, second),
        )
        self._connection.execute(
            "INSERT OR REPLACE INTO compared VALUES(?,?,?,?,?)",
            (place, kind, first, second, verdict),
        )

    def fact(self, name: str) -> str | None:
        """A small fact about the session, for example whose it is."""
        found = self._connection.execute("SELECT value FROM fact WHERE name=?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def set_fact(self, name: str, value: str) -> None:
        """Keep a fact."""
        self._connection.execute("INSERT OR REPLACE INTO fact VALUES(?,?)", (name, value))


def read_cursors(session_dir: Path) -> dict[tuple[str, str, str], Cursor]:
    """Every cursor of a session, without its lock; empty when there is no state that can be read."""
    connection = read_database(session_dir / "state.db", _SCHEMA)
    if connection is None:
        return {}
    with closing(connection):
        try:
            return _cursors(connection)
        except _NO_CURSOR:
            return {}


def read_conflicts(session_dir: Path) -> list[Conflict]:
    """Every conflict of a session's sources, in order; empty when there is no state that can be read."""
    connection = read_database(session_dir / "state.db", _SCHEMA)
    if connection is None:
        return []
    with closing(connection):
        try:
            rows = connection.execute("SELECT * FROM conflict ORDER BY at_ns")
            return [msgspec.convert(row, Conflict) for row in rows]
        except _NO_CURSOR:
            return []


def read_planned(session_dir: Path) -> tuple[list[Cursor], dict[str, str]]:
    """What planning needs of a session: its cursors without digest, carry and position, and each file that
    was found to be a copy, with the file it is a copy of. Nothing when there is no state that can be read.

    :raises NewerError: a newer asz wrote it.
    """
    connection = read_database(session_dir / "state.db", _SCHEMA)
    if connection is None:
        return [], {}
    with closing(connection):
        try:
            cursors = list(_cursors(connection).values())
            query = "SELECT second,first FROM compared WHERE verdict IN ('same','first continues')"
            copies = dict(connection.execute(query).fetchall())
        except _NO_CURSOR:
            return [], {}
    for cursor in cursors:
        cursor.digest, cursor.carry, cursor.position = "", b"", b""
    return cursors, copies


_NO_CURSOR: Final = (sqlite3.DatabaseError, ValueError)
"""What reading cursors raises from a file with other columns, or other types in them."""


def _cursors(connection: sqlite3.Connection) -> dict[tuple[str, str, str], Cursor]:
    rows = connection.execute("SELECT * FROM cursor")
    found = [msgspec.convert(row, Cursor, builtin_types=(bytes,)) for row in rows]
    return {cursor.identity: cursor for cursor in found}
