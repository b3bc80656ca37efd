"""Reading one source in a session's turn: what is new of it lands, its cursor moves."""

import hashlib
import os
import time
from dataclasses import dataclass
from typing import Final

from asz.collect.conflicts import Again, conflict_line
from asz.collect.converting import convert
from asz.collect.forward import Ahead
from asz.collect.lander import Lander
from asz.collect.look import Look, identity, look, times
from asz.collect.reading import (
    LineReader,
    SourceFile,
    Window,
    location,
    opened,
    read_exactly,
    skip_to,
    tail_digest,
)
from asz.collect.work import AdapterCalls, Item, Limits, Progress, Report
from asz.errors import AszError
from asz.storage.cursors import Cursor
from asz.storage.sd import SHA_DIGITS
from asz_hookspecs import RawRecord

MAX_LINES: Final = 16_384
"""Most lines converted at once: a window of empty lines is two million records."""

_UNKNOWN_SIZE: Final = -1
"""Size of a source whose end was not reached: it is read again whatever its size."""


@dataclass(slots=True)
class SourceReader:
    """Reads one source of a session into the session's lander."""

    adapter: AdapterCalls
    item: Item
    cursor: Cursor
    known: bool
    """Whether the cursor stands for something that was read, and is no new one."""
    again: Again
    """Begins a next reading of a file that is not what its cursor knows."""
    ahead: Ahead | None
    """What landed beyond a custom source's cursor, so that it does not land again."""
    lander: Lander
    limits: Limits
    progress: Progress
    report: Report

    def read(self) -> None:
        """Land what is new.

        :raises VanishedError: the file is not there any more.
        :raises UnreadableError: the file cannot be read now.
        :raises OSError: the storage root cannot be written.
        """
        before = self.report.counts.records
        if self.item.source.shape == "custom":
            self._read_custom()
        else:
            with opened(self.item.source) as (handle, found):
                self._read_file(handle, found)
        self.report.counts.landed += self.report.counts.records > before

    def _read_file(self, handle: SourceFile, found: os.stat_result) -> None:
        verdict = look(self.item.source, self.cursor if self.known else None, found)
        moved = self.known and self.cursor.path != location(self.item.source)
        if verdict is Look.CONFLICT:
            self.report.conflict(conflict_line(self.cursor))
        elif verdict is Look.SHORTER:
            self._read_again(
                handle,
                found,
                f"{found.st_size} bytes, fewer than the {self.cursor.offset} already read",
            )
        elif verdict is Look.IDLE and not moved:
            if self.cursor.state != "active":
                self._keep(found)
        elif self.item.source.shape == "document":
            self._read_document(handle, found)
        else:
            self._read_lines(handle, found)

    # ---- files of lines

    def _read_lines(self, handle: SourceFile, found: os.stat_result) -> None:
        cursor = self.cursor
        tail = skip_to(handle, cursor.offset)
        if cursor.offset and tail_digest(tail) != cursor.digest:
            self._read_again(
                handle,
                found,
                f"the bytes before offset {cursor.offset} are not those already read",
            )
            return
        reader = LineReader(handle, cursor.offset, tail, self.limits.max_delta_bytes)
        windows = 0
        ended = True
        while (window := reader.next()) is not None:
            self._land_window(window)
            windows += 1
            if self.lander.full:
                cursor.digest = reader.digest()
                self._keep(found, _UNKNOWN_SIZE)
                self.lander.flush()
            if windows == self.limits.windows_a_source or self.progress.stopping():
                cursor.digest = reader.digest()
                ended = reader.next() is None
                break
        else:
            cursor.digest = reader.digest()
        if ended:
            plain = self.item.source.compression == "none"
            size = reader.offset + reader.unread if plain else found.st_size
        else:
            self.report.counts.pending += 1
            size = _UNKNOWN_SIZE
        if windows or self.known:
            self._keep(found, size)

    def _read_again(self, handle: SourceFile, found: os.stat_result, reason: str) -> None:
        """Land a file that was rewritten from its start, as a next reading. What landed before stays."""
        if self.again(self.cursor, reason):
            self._read_lines(handle, found)
        else:
            self.lander.keep(self.cursor)

    # ---- documents

    def _read_document(self, handle: SourceFile, found: os.stat_result) -> None:
        cursor = self.cursor
        data = read_exactly(handle, 1 << 62).rstrip(b"\r\n")
        digest = hashlib.sha256(data).hexdigest()
        rolled = len(cursor.digest) == SHA_DIGITS and digest.startswith(cursor.digest)
        if data and digest != cursor.digest and not rolled:
            self._land([data], len(data))
        if data or self.known:
            cursor.digest = digest if data else cursor.digest
            cursor.mtime_ns, cursor.ctime_ns = times(found)
            cursor.read_at_ns = time.time_ns()
            self._keep(found)

    # ---- custom sources

    def _read_custom(self) -> None:
        source, cursor = self.item.source, self.cursor
        landed = {record.ord: record.sha for record in self.ahead.records} if self.ahead else {}
        batch: list[bytes] = []
        size = 0
        position = cursor.position
        try:
            for raw in self.adapter.land(self.adapter.options, source, cursor.position):
                if landed and self._landed_already(raw, landed):
                    position = raw.position
                    continue
                batch.append(raw.data)
                size += len(raw.data) + 1
                position = raw.position
                if size >= self.limits.max_delta_bytes:
                    self._land_custom(batch, size, position)
                    batch, size = [], 0
                if self.progress.stopping():
                    self.report.counts.pending += 1
                    break
        except AszError as error:
            self.report.error(str(error))
        if batch or position != cursor.position:
            self._land_custom(batch, size, position)

    def _landed_already(self, raw: RawRecord, landed: dict[int, str]) -> bool:
        """Whether a crash came between landing this record and saving its position."""
        cursor = self.cursor
        sha = landed.get(cursor.ord + 1)
        if sha is None or not hashlib.sha256(raw.data).hexdigest().startswith(sha):
            landed.clear()
            self._pass_over()
            return False
        cursor.carry = convert(self.adapter, self.item.source, [raw.data], cursor.carry).carry
        cursor.ord += 1
        cursor.offset += len(raw.data) + 1
        return True

    def _pass_over(self) -> None:
        """Go on after what landed: two records never have one number, whatever the source says now."""
        assert self.ahead is not None
        last = self.ahead.records[-1]
        self.cursor.ord, self.cursor.offset = last.ord, last.off + last.size + 1

    def _land_custom(self, batch: list[bytes], size: int, position: bytes) -> None:
        if batch:
            self._land(batch, size)
        self.cursor.position = position
        self.cursor.state = "active"
        if self.ahead is not None and self.cursor.ord >= self.ahead.records[-1].ord:
            self.cursor.last_seq = max(self.cursor.last_seq, self.ahead.last_seq)
        self.lander.keep(self.cursor)
        if self.lander.full:
            self.lander.flush()

    def _land_window(self, window: Window) -> None:
        lines = window.lines()
        if len(lines) <= MAX_LINES:
            self._land(lines, len(window.data))
            return
        for start in range(0, len(lines), MAX_LINES):
            some = lines[start : start + MAX_LINES]
            self._land(some, sum(map(len, some)) + len(some))

    # ---- what all share

    def _land(self, lines: list[bytes], size: int) -> None:
        """Convert a window and write its files."""
        source, counts = self.item.source, self.report.counts
        conversion = convert(self.adapter, source, lines, self.cursor.carry)
        if conversion.failure is not None and conversion.failure not in self.report.problems:
            self.report.error(conversion.failure)
        first = self.cursor.ord + 1
        refused = self.lander.land(self.adapter, self.item, self.cursor, lines, conversion)
        for line in refused:
            self.report.error(f"adapter {self.adapter.name}: {line}")
        for ord_, record in enumerate(conversion.records, first):
            if record.damaged is not None:
                counts.damaged += 1
                self.report.notes.append(f"{self._path()}: record {ord_}: {record.damaged}")
        counts.damaged += len(refused)
        counts.records += len(lines)
        counts.bytes += size
        self.progress.advance(len(lines), size)

    def _keep(self, found: os.stat_result, size: int | None = None) -> None:
        """Bring the cursor up to the file it stands for, and save it with the next group."""
        cursor = self.cursor
        cursor.state, cursor.reason, cursor.gone_at = "active", "", 0
        cursor.src = self.item.source.src
        cursor.path = location(self.item.source)
        cursor.device, cursor.inode = identity(found)
        cursor.size = found.st_size if size is None else size
        self.lander.keep(cursor)

    def _path(self) -> str:
        return location(self.item.source) or self.item.source.src
