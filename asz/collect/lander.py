"""Landing: records of one session become write-once files, a group of them durable at a time.

The order is what keeps a crash harmless: files are written, synced, made visible in ascending sequence,
their directories synced; only then are index rows and cursors saved.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from asz.collect.converting import Conversion
from asz.collect.work import AdapterCalls, Item
from asz.errors import RootError
from asz.storage.cursors import Conflict, Cursor, SessionState
from asz.storage.files import Pending, install, make_directory, sync, write_pending
from asz.storage.index import Index, RowBuilder
from asz.storage.landed import file_name
from asz.storage.records import RecordWriter, record_sha
from asz.storage.rows import FileRow
from asz.storage.sd import SCHEMA, Header, encode_closing, encode_header
from asz.storage.steps import Step, step
from asz.storage.times import stamp_now
from asz_hookspecs import Record, damaged

GROUP_BYTES: Final = 32 << 20
"""Landed bytes after which a group is made durable: what a crash may cost, and what memory holds."""

_CLOSING_BYTES: Final = len(encode_closing(0, "0" * 64)) + 24  # more digits of count and sequence


class Lander:
    """Writes one session's landed files, under its lock."""

    def __init__(
        self,
        session_dir: Path,
        last_seq: int,
        state: SessionState,
        index: Index | None,
        max_delta_bytes: int,
    ) -> None:
        """Start after ``last_seq``, the highest sequence on disk.

        :param index: ``None`` when it cannot be brought up to date; files land all the same.
        """
        self._session_dir = session_dir
        self._seq = last_seq
        self._state = state
        self._index = index
        self._max_delta_bytes = max_delta_bytes
        self._at, self._stamp = stamp_now()
        self._pending: list[Pending] = []
        self._pending_bytes = 0
        self._rows = RowBuilder()
        self._cursors: dict[tuple[str, str, str], Cursor] = {}
        self._conflicts: list[Conflict] = []
        self._places: dict[str, Path] = {}
        self._names: dict[str, set[str]] = {}
        """Names below ``streams`` and ``runs``, exactly as the file system has them."""
        self._new_parents: dict[Path, None] = {}

    def land(
        self,
        adapter: AdapterCalls,
        item: Item,
        cursor: Cursor,
        lines: list[bytes],
        conversion: Conversion,
    ) -> list[str]:
        """Write the files of one window and move its cursor, in memory, past them.

        :returns: one line for each record the adapter described in a way that cannot be written.
        """
        header = _header(self._session_dir.name, self._at, adapter, item, cursor.gen)
        directory = self._directory(item.place)
        refused: list[str] = []
        frame = len(encode_header(header)) + _CLOSING_BYTES
        for chunk in self._files(item, cursor, lines, conversion.records, refused, frame):
            self._write(header, directory, item.place, chunk)
        cursor.last_seq = self._seq
        cursor.carry = conversion.carry
        self.keep(cursor)
        return refused

    def keep(self, cursor: Cursor) -> None:
        """Save a cursor with the next group, whether or not it landed anything."""
        self._cursors[cursor.identity] = cursor

    def tell(self, conflict: Conflict) -> None:
        """Save what was found of a source with the next group, beside its cursor."""
        self._conflicts.append(conflict)

    def _files(
        self,
        item: Item,
        cursor: Cursor,
        lines: list[bytes],
        records: list[Record],
        refused: list[str],
        frame: int,
    ) -> "Iterator[_File]":
        """The window's records, encoded and cut into files at record boundaries.

        :param frame: what header and closing line add to a file, in bytes.
        """
        file = _File(self._seq + 1, frame)
        for raw, described in zip(lines, records, strict=True):
            record = described
            sha = record_sha(raw)
            cursor.ord += 1
            try:
                line = file.writer.encode(record, cursor.ord, cursor.offset, raw, sha)
            except Exception as error:  # whatever the adapter put into it, the bytes must land
                where = f"{item.source.src}: record {cursor.ord}"
                refused.append(f"{where}: cannot be written as described: {error!r}")
                record = damaged(raw, "the adapter described it in a way that cannot be written")
                line = file.writer.encode(record, cursor.ord, cursor.offset, raw, sha)
            if file.lines and file.size + len(line) > self._max_delta_bytes:
                yield file
                file = _File(file.seq + 1, frame)
                line = file.writer.encode(record, cursor.ord, cursor.offset, raw, sha)
            row = file.add(line)
            self._rows.add_record(file.seq, row, cursor.ord, cursor.offset, sha, record)
            if item.source.shape != "document":
                cursor.offset += len(raw) + 1
        yield file

    def _write(self, header: Header, directory: Path, place: str, file: "_File") -> None:
        self._seq = header.seq = file.seq
        name = file_name(header.kind, self._stamp, file.seq)
        body = b"".join((encode_header(header), *file.lines))
        digest = hashlib.sha256(body)
        closing = encode_closing(len(file.lines), digest.hexdigest())
        digest.update(closing)
        data = body + closing
        self._pending.append(write_pending(directory, name, data, Step.FILE_WRITE))
        self._pending_bytes += len(data)
        self._rows.end_file(
            FileRow(
                file.seq,
                f"{place}/{name}",
                header.kind,
                header.src,
                header.gen or 0,
                header.stream,
                header.batch,
                header.runtime,
                len(file.lines),
                digest.hexdigest(),
            )
        )

    def _directory(self, place: str) -> Path:
        """The directory of a stream or batch, made when missing."""
        known = self._places.get(place)
        if known is not None:
            return known
        parent_name, name = place.split("/")
        parent = self._session_dir / parent_name
        path = parent / name
        if parent_name not in self._names:
            if not parent.is_dir():
                self._new_parents[self._session_dir] = None
            make_directory(parent)
            self._names[parent_name] = set(os.listdir(parent))
        new = not path.is_dir()
        make_directory(path)
        if new:
            self._new_parents[parent] = None
            self._names[parent_name].add(name)
        elif name not in self._names[parent_name]:
            raise RootError(
                f"{path}: this file system does not tell upper from lower case and another stream has "
                "that name; use a --root on one that does"
            )
        self._places[place] = path
        return path

    @property
    def full(self) -> bool:
        """Whether the group is large enough to be made durable."""
        return self._pending_bytes >= GROUP_BYTES

    def flush(self) -> None:
        """Make the group durable, then index it, then save its cursors.

        :raises OSError: the disk is full or failing; nothing beyond the last group counts as read.
        """
        if self._pending:
            if self._new_parents:
                with step(Step.DIRECTORY_SYNC):
                    for parent in (*self._new_parents, self._session_dir.parent):
                        sync(parent)
            install(self._pending, Step.FILE_INSTALL)
            if self._index is not None:
                self._index.save(self._rows)
        if self._cursors or self._conflicts:
            self._state.save(self._cursors.values(), self._conflicts)
        self._forget()

    def abandon(self) -> None:
        """Remove what is not visible yet; no cursor covers it."""
        for pending in self._pending:
            pending.temporary.unlink(missing_ok=True)
        self._forget()

    def _forget(self) -> None:
        self._pending = []
        self._pending_bytes = 0
        self._rows = RowBuilder()
        self._cursors = {}
        self._conflicts = []
        self._new_parents = {}


class _File:
    """The record lines of one landed file to be."""

    def __init__(self, seq: int, frame: int) -> None:
        self.seq = seq
        self.writer = RecordWriter()
        self.lines: list[bytes] = []
        self.size = frame
        """Bytes of the whole file."""

    def add(self, line: bytes) -> int:
        """Add a line; its row."""
        self.lines.append(line)
        self.size += len(line)
        return len(self.lines)


def _header(session: str, at: str, adapter: AdapterCalls, item: Item, gen: int) -> Header:
    info, source = adapter.info, item.source
    return Header(
        h=1,
        schema=SCHEMA,
        seq=0,
        at=at,
        kind=source.kind,
        adapter=f"{adapter.name}/{info.version}",
        dialect=info.dialect,
        runtime=info.joins or info.runtime,
        src=source.src,
        session=session,
        stream=source.stream,
        batch=source.batch,
        gen=gen or None,
    )
