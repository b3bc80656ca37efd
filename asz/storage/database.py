"""How asz opens its SQLite files: private, of one schema, never taken for empty because of its version.

Every database belongs to one of two kinds. One that is *derived* can be made again from landed files, so
one that is damaged or of another schema is discarded by who opens it. Any other holds what nothing else
knows; an older one is migrated after a backup, and a newer one is left alone.
"""

import errno
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from asz import __version__
from asz.errors import NewerError, RootError
from asz.storage.files import TEMPORARY, create_private, sync
from asz.storage.steps import Step, step

_SIDE_FILES: Final = ("", "-journal", "-wal", "-shm")
_SURROUNDINGS: Final = frozenset(
    (
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    )
)
"""Failures of the disk, the system or another process: the database itself may be whole."""


class DamagedError(Exception):
    """The database is not one of its kind; what it held is lost, or can be made again."""

    def __init__(self, message: str, *, outdated: bool = False) -> None:
        super().__init__(message)
        self.outdated = outdated
        """Whether it is whole and merely derived by another schema, which is nothing to tell a person."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What a kind of database holds, in the newest version and on the way there."""

    statements: str
    """Makes the newest version, each statement ended by a semicolon."""
    version: int
    """Kept in ``user_version``."""
    migrations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """By version: statements that make the next version of it. There are some for each older version,
    unless the database is derived."""
    derived: bool = False
    """Whether it can be made again from landed files."""


_WRITTEN: Final = "CREATE TABLE IF NOT EXISTS written(by)"
"""Which asz made the schema, for the message of an older one that meets it."""


def open_database(path: Path, schema: Schema) -> sqlite3.Connection:
    """Open or make a database for its one writer, migrating an older one.

    :raises DamagedError: not a database, or a derived one of another version.
    :raises NewerError: a newer asz wrote it. Nothing of it was changed.
    :raises OSError: it cannot be made, read or written now.
    :raises RootError: a link has its name.
    """
    for side in _SIDE_FILES:
        if path.with_name(path.name + side).is_symlink():
            raise RootError(f"{path}{side}: a link, not a file of the storage root; move it away")
    if not path.exists():
        os.close(create_private(path))  # before SQLite would make it with the umask's mode
    connection = _connect(path, "rw")
    try:
        found = _version(connection)
        if found == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            _make(connection, schema)
            return connection
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise DamagedError(f"{path}: damaged")
        if found != schema.version:
            _check_age(path, connection, found, schema)
            _back_up(path, connection, found)
            _migrate(connection, found, schema)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError):
            raise _judged(path, error) from error
        raise
    return connection


def read_database(path: Path, schema: Schema) -> sqlite3.Connection | None:
    """Open a database only to read it; ``None`` when there is none that can be read. An older one that is
    not derived is migrated in memory, so that what it holds is seen before anybody writes.

    :raises NewerError: a newer asz wrote it, and it cannot be made again.
    """
    try:
        if not path.is_file():
            return None
        connection = _connect(path, "ro")
    except OSError:
        return None
    try:
        found = _version(connection)
        if found == schema.version:
            return connection
        _check_age(path, connection, found, schema)
        return _migrated_copy(connection, found, schema)
    except (sqlite3.Error, UnicodeDecodeError, DamagedError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _make(connection: sqlite3.Connection, schema: Schema) -> None:
    written = "" if schema.derived else f"{_WRITTEN};INSERT INTO written VALUES('{__version__}');"
    connection.executescript(
        f"BEGIN;{schema.statements}{written}PRAGMA user_version={schema.version};COMMIT;"
    )


def _check_age(path: Path, connection: sqlite3.Connection, found: int, schema: Schema) -> None:
    """Make sure that another version can be migrated.

    :raises DamagedError: it is derived, or was never one of asz's.
    :raises NewerError: it is newer.
    """
    if schema.derived:
        raise DamagedError(f"{path}: schema {found}, not {schema.version}", outdated=True)
    if found > schema.version:
        raise NewerError(
            f"{path}: written by {_writer(connection)}, in a form this asz {__version__} does not "
            "know; upgrade asz. Nothing of it was changed"
        )
    if found not in schema.migrations:
        raise DamagedError(f"{path}: schema {found}, which no asz wrote")


def _writer(connection: sqlite3.Connection) -> str:
    try:
        found = connection.execute("SELECT by FROM written").fetchone()
    except sqlite3.Error:
        found = None
    return f"asz {found[0]!s:.40}" if found else "a newer asz"


def _migrate(connection: sqlite3.Connection, found: int, schema: Schema) -> None:
    """Bring a database up to the newest version, all or nothing."""
    with step(Step.DATABASE_MIGRATE):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _bring_up(connection, found, schema)
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled it back already
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _bring_up(connection: sqlite3.Connection, found: int, schema: Schema) -> None:
    for version in range(found, schema.version):
        for statement in schema.migrations[version]:
            connection.execute(statement)
    connection.execute(_WRITTEN)
    connection.execute("DELETE FROM written")
    connection.execute("INSERT INTO written VALUES(?)", (__version__,))
    connection.execute(f"PRAGMA user_version={schema.version}")


def _back_up(path: Path, connection: sqlite3.Connection, found: int) -> None:
    """Keep the database as it is, beside it: whatever a migration gets wrong can be taken back."""
    backup = path.with_name(f"{path.name}.{found}")
    temporary = path.with_name(TEMPORARY + backup.name)
    with step(Step.DATABASE_BACKUP):
        try:
            os.close(create_private(temporary, os.O_RDWR | os.O_TRUNC))
            with closing(_connect(temporary, "rw")) as copy:
                connection.backup(copy)
            sync(temporary)
            temporary.replace(backup)
            sync(path.parent)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def _migrated_copy(
    connection: sqlite3.Connection, found: int, schema: Schema
) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        with closing(connection):
            connection.backup(copy)
        _bring_up(copy, found, schema)
    except BaseException:
        copy.close()
        raise
    return copy


def _judged(path: Path, error: Exception) -> Exception:
    """What an error in opening a database says: a full disk must not cost the cursors it holds."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SURROUNDINGS:
        return OSError(errno.EIO, str(error), str(path))
    return DamagedError(f"{path}: {error}")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error


def discard(path: Path) -> None:
    """Remove a derived database and its side files."""
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()


def put_aside(path: Path) -> Path:
    """Make room for a database that was damaged: what is left of it stays, as evidence.

    :returns: where it is now, in place of one put aside before.
    """
    aside = path.with_name(f"{path.name}.damaged")
    path.replace(aside)
    discard(path)  # its journal would be played into the next one
    return aside
