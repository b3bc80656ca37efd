"""How asz opens its SQLite files: private, checked for their schema, rebuilt when they are not right."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from asz.errors import RootError

_SIDE_FILES = ("", "-journal", "-wal", "-shm")


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
    :raises OSError: it cannot be made.
    :raises RootError: a link has its name.
    """
    for side in _SIDE_FILES:
        if path.with_name(path.name + side).is_symlink():
            raise RootError(f"{path}{side}: a link, not a file of the storage root; move it away")
    if not path.exists():
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(path, flags, 0o600))  # before SQLite would make it with the umask's mode
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
        if isinstance(error, sqlite3.DatabaseError):
            raise DamagedError(f"{path}: {error}") from error
        raise
    return connection


def read_database(path: Path, version: int) -> sqlite3.Connection | None:
    """Open a database only to read it; ``None`` when there is none of this version that can be read."""
    if not path.is_file():
        return None
    connection = _connect(path, "ro")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == version:
            return connection
    except sqlite3.Error:
        pass
    connection.close()
    return None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise OSError(f"{path}: {error}") from error


def discard(path: Path) -> None:
    """Remove a database and its side files."""
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()
