"""Whether a source has to be read at all, from its cursor and one ``stat``. Times are never trusted
alone: an append-only file is judged by size and identity, a document by everything that can change."""

import os
from enum import Enum
from typing import Final

from asz.storage.cursors import Cursor
from asz_hookspecs import Source

SETTLED_NS: Final = 2_000_000_000
"""A document read within this time of its mtime is read again: a second write may share the stamp."""

_SQLITE_MAX: Final = (1 << 63) - 1


class Look(Enum):
    """What to do with a source."""

    IDLE = "nothing new"
    READ = "read"
    CONFLICT = "in conflict"
    SHORTER = "shorter than what was read"


def look(source: Source, cursor: Cursor | None, found: os.stat_result) -> Look:
    """What to do with a source whose file is ``found``."""
    if cursor is None:
        return Look.READ if found.st_size else Look.IDLE
    if cursor.state == "conflict":
        return Look.CONFLICT
    if source.shape == "document":
        return Look.IDLE if _settled(cursor, found) else Look.READ
    plain = source.compression == "none"
    if plain and found.st_size < cursor.offset:
        return Look.SHORTER
    same = (cursor.device, cursor.inode) == identity(found)
    if same and (found.st_size == cursor.size or (plain and found.st_size == cursor.offset)):
        return Look.IDLE
    return Look.READ


def identity(found: os.stat_result) -> tuple[int, int]:
    """Device and inode of a file. Some network file systems use all 64 bits, SQLite keeps 63."""
    return found.st_dev & _SQLITE_MAX, found.st_ino & _SQLITE_MAX


def times(found: os.stat_result) -> tuple[int, int]:
    """Modification and change time in nanoseconds, as SQLite keeps them: some lie after 2262."""
    return found.st_mtime_ns & _SQLITE_MAX, found.st_ctime_ns & _SQLITE_MAX


def _settled(cursor: Cursor, found: os.stat_result) -> bool:
    return (
        cursor.size == found.st_size
        and (cursor.mtime_ns, cursor.ctime_ns) == times(found)
        and (cursor.device, cursor.inode) == identity(found)
        and abs(cursor.read_at_ns - found.st_mtime_ns) >= SETTLED_NS
    )
