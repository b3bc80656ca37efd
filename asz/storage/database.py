"""How asz opens its SQLite files: private, checked for their schema, rebuilt when they are not right."""

import errno
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from asz.errors import RootError
from asz.storage.files import create_private

_SIDE_FILES = ("", "-journal", "-wal", "-shm")
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
    """The database is damaged or of another schema; what it holds can be made again."""

    def __init__(self, message: str, *, outdated: bool = False) -> None:
        super().__init__(message)
        self.outdated = outdated
        """Whether it is whole and merely of another schema, which is nothing to tell a person."""


def open_database(path: Path, schema: str, version: int) -> sqlite3.Connection:
    """Open or make a database for its one writer.

    :param schema: statements that make it.
    :param version: kept in ``user_version``; another one is ``DamagedError``.
    :raises DamagedError: not a database, or of another version.
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
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            connection.executescript(f"BEGIN;{schema};PRAGMA user_version={version};COMMIT;")
            found = version
        elif connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise DamagedError(f"{path}: damaged")
        if found != version:
            raise DamagedError(f"{path}: schema {found}, not {version}", outdated=True)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError):
            raise _judged(path, error) from error
        raise
    return connection


def _judged(path: Path, error: Exception) -> Exception:
    """What an error in opening a database says: a full disk must not cost the cursors it holds."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SURROUNDINGS:
        return OSError(errno.EIO, str(error), str(path))
    return DamagedError(f"{path}: {error}")


def read_database(path: Path, version: int) -> sqlite3.Connection | None:
    """Open a database only to read it; ``None`` when there is none of this version that can be read."""
    try:
        if not path.is_file():
            return None
        connection = _connect(path, "ro")
    except OSError:
        return None
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == version:
            return connection
    except (sqlite3.Error, UnicodeDecodeError):
        pass
    connection.close()
    return None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error


def discard(path: Path) -> None:
    """Remove a database and its side files."""
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()
