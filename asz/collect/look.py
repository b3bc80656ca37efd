"""Whether a source has to be read at all, from its cursor and one ``stat``. Times are never trusted
alone: an append-only file is judged by size and identity, a document by everything that can change."""

import os
from enum import Enum
from typing import Final

from asz.storage.cursors import Cursor
from asz_hookspecs import Source

SETTLED_NS: Final = 2_000_000_000
"""A document read within this time of its mtime is read again: a second write may share the stamp."""


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
    same = (cursor.device, cursor.inode) == (found.st_dev, found.st_ino)
    if same and (found.st_size == cursor.size or (plain and found.st_size == cursor.offset)):
        return Look.IDLE
    return Look.READ


def _settled(cursor: Cursor, found: os.stat_result) -> bool:
    return (
        cursor.size == found.st_size
        and cursor.mtime_ns == found.st_mtime_ns
        and cursor.ctime_ns == found.st_ctime_ns
        and (cursor.device, cursor.inode) == (found.st_dev, found.st_ino)
        and abs(cursor.read_at_ns - found.st_mtime_ns) >= SETTLED_NS
    )
