"""One session's turn in a pass: under its lock, everything of it from all adapters, in a fixed order."""

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from asz.collect.conflicts import Again
from asz.collect.forward import Ahead, Readings, by_place, new_cursor, roll_forward
from asz.collect.lander import Lander
from asz.collect.reading import (
    UnreadableError,
    VanishedError,
    forget_directories,
    location,
)
from asz.collect.slots import Reading, choose, further_key
from asz.collect.sources import SourceReader
from asz.collect.work import Assembler, Entries, Item, Limits, Progress, Report, Seen, Work
from asz.errors import AszError, BusyError, FormatError
from asz.storage.cursors import Cursor, SessionState
from asz.storage.index import Index
from asz.storage.landed import LandedName, landed_names, remove_leftovers
from asz.storage.locks import hold
from asz.storage.root import Root
from asz.storage.sd import read_header

Cursors = dict[tuple[str, str, str], Cursor]


def take_turn(
    root: Root,
    work: Work,
    entries: Entries,
    limits: Limits,
    progress: Progress,
    assembler: Assembler | None,
) -> Report:
    """Do one session's share of a pass: land, index, assemble. Nothing leaves it but its report."""
    forget_directories()
    report = Report()
    report.counts.sessions = 1 if work.items else 0
    report.counts.sources = len(work.items)
    try:
        directory = root.make_session_dir(work.session)
        if work.items or work.seen:
            with hold(directory / ".lock"):
                Turn(directory, work, entries, limits, progress, report).run()
        if assembler is not None:
            assembled = assembler.assemble(root, work.session)
            report.rounds = assembled.rounds_written
            report.renewed = int(assembled.renewed)
    except BusyError:
        report.counts.busy = 1
        report.problems.append(
            f"{work.session}: busy: another collector has it; a later pass takes it"
        )
    except AszError as error:
        report.error(f"{work.session}: {error}")
    except OSError as error:
        where = error.filename or root.path
        report.error(f"{work.session}: {where}: cannot be written: {error.strerror or error}")
    except sqlite3.Error as error:
        where = root.path / work.session
        report.error(f"{work.session}: {where}: state.db or index.db cannot be written: {error}")
    except Exception as error:  # a defect costs its session, not the pass
        report.error(f"{work.session}: unexpected {type(error).__name__}: {error}")
    return report


@dataclass(frozen=True, slots=True)
class _Opened:
    """What a turn works on while it has the session's lock."""

    state: SessionState
    cursors: Cursors
    lander: Lander
    readings: Readings
    again: Again


class Turn:
    """The part of a turn that needs the session's lock."""

    def __init__(
        self,
        directory: Path,
        work: Work,
        entries: Entries,
        limits: Limits,
        progress: Progress,
        report: Report,
    ) -> None:
        self._directory = directory
        self._work = work
        self._entries = entries
        self._limits = limits
        self._progress = progress
        self._report = report

    def run(self) -> None:
        """Land what is new, judge what has gone, bring the index up to the disk."""
        remove_leftovers(self._directory)
        names = landed_names(self._directory)
        with SessionState.open(self._directory) as state, Index.open(self._directory) as index:
            for store in (state, index):
                if store.rebuilt:
                    self._report.error(f"{store.path}: damaged; made again from the landed files")
            cursors = state.cursors()
            lander = Lander(
                self._directory,
                _last_issued(names, cursors),
                state,
                index if self._close_gap(index, names) else None,
                self._limits.max_delta_bytes,
            )
            readings = Readings(self._directory, by_place(names), cursors)
            again = Again(state, readings, lander, self._report)
            try:
                self._land(_Opened(state, cursors, lander, readings, again), names)
                lander.flush()
            except BaseException:
                lander.abandon()
                raise

    def _close_gap(self, index: Index, names: list[LandedName]) -> bool:
        try:
            index.close_gap(names)
        except FormatError as error:
            self._report.error(
                f"{error}; put a good copy in its place, or remove {self._directory} to collect again"
            )
            return False
        return True

    def _land(self, opened: _Opened, names: list[LandedName]) -> None:
        state, cursors, lander = opened.state, opened.cursors, opened.lander
        chosen = choose(self._own_items(state, names), cursors, state)
        self._report.counts.copies += len(chosen.copies)
        self._report.notes += chosen.copies
        read = {
            reading.cursor.identity for reading in chosen.readings if reading.cursor is not None
        }
        for reading in chosen.readings:
            if self._progress.stopping():
                self._report.counts.pending += 1
                continue
            try:
                self._read(reading, opened)
            except VanishedError:
                if reading.cursor is not None:
                    self._judge_gone(reading.cursor, lander)
            except (UnreadableError, FormatError) as error:
                self._report.error(str(error))
        for identity, cursor in cursors.items():
            if identity not in read and gone(cursor, self._work.seen.get(identity[:2])):
                self._judge_gone(cursor, lander)

    def _read(self, reading: Reading, opened: _Opened) -> None:
        item, cursor, readings = reading.item, reading.cursor, opened.readings
        known = cursor is not None
        if cursor is None:
            key = further_key(item, opened.cursors) if reading.differs_from else ""
            cursor = new_cursor(item, key)
        ahead: Ahead | None = None
        if item.source.shape == "custom":
            ahead = next(iter(readings.ahead_of(item, cursor)), None)
        elif self._roll_forward(item, cursor, known, opened):
            known = True
            opened.lander.keep(cursor)
        if not known and ahead is None:
            cursor.gen = readings.next_gen(cursor)
        readings.claim(cursor)
        SourceReader(
            self._entries[item.entry],
            item,
            cursor,
            known,
            opened.again,
            ahead,
            opened.lander,
            self._limits,
            self._progress,
            self._report,
        ).read()
        if reading.differs_from and cursor.last_seq:
            path = location(item.source) or item.source.src
            opened.again.say(
                cursor,
                f"differs from {reading.differs_from}",
                f"{reading.differs_from} and {path} tell one stream and differ; both are kept, the second "
                f"as reading {cursor.gen + 1}",
            )

    def _roll_forward(self, item: Item, cursor: Cursor, known: bool, opened: _Opened) -> bool:
        """Move a cursor over what landed beyond it, or to a next reading; whether it moved."""
        adapter, window = self._entries[item.entry], self._limits.max_delta_bytes
        beyond = opened.readings.ahead_of(item, cursor)
        if any(roll_forward(item, cursor, ahead, adapter, window) for ahead in beyond):
            return True
        if known and any(ahead.gen == cursor.gen for ahead in beyond):
            return opened.again(cursor, "other bytes than those that landed last")
        return False

    def _judge_gone(self, cursor: Cursor, lander: Lander) -> None:
        """A source that is not there any more; what landed of it stays."""
        if cursor.state != "source_gone":
            cursor.state, cursor.reason = "source_gone", ""
            cursor.gone_at = time.time_ns()
            lander.keep(cursor)
            self._report.counts.gone += 1
            self._report.notes.append(f"{cursor.path or cursor.src}: gone; what landed of it stays")

    # ---- whose session it is

    def _own_items(self, state: SessionState, names: list[LandedName]) -> list[Item]:
        """The items of the runtime the session belongs to; the others are refused, both named."""
        items = sorted(self._work.items, key=lambda item: item.landing_order)
        owner = state.fact("runtime")
        if owner is None and names:
            owner = read_header(self._directory / names[0].path).runtime
        for item in items:
            info = self._entries[item.entry].info
            owner = owner or info.joins or info.runtime
        own = []
        refused: dict[str, str] = {}
        for item in self._work.items:
            adapter = self._entries[item.entry]
            if owner in (adapter.info.runtime, adapter.info.joins):
                own.append(item)
            else:
                refused[adapter.name] = adapter.info.runtime
        for name, runtime in refused.items():
            self._report.error(
                f"{self._work.session}: belongs to {owner}; adapter {name} brings the same id for "
                f"{runtime}, which is not read"
            )
        if names and owner is not None and state.fact("runtime") is None:
            state.set_fact("runtime", owner)
        return own


def _last_issued(names: list[LandedName], cursors: Cursors) -> int:
    """The highest sequence there ever was, as far as disk and cursors know: a number whose file somebody
    removed is not given to another."""
    last = names[-1].seq if names else 0
    return max(last, max((cursor.last_seq for cursor in cursors.values()), default=0))


def gone(cursor: Cursor, seen: Seen | None) -> bool:
    """Whether a source that was not listed is to be judged gone: it could have been seen, and its file
    is not there."""
    if cursor.state == "source_gone" or seen is None or not seen.complete:
        return False
    if any(cursor.src.startswith(prefix) for prefix in seen.hidden):
        return False
    if not cursor.path:
        return True
    try:
        Path(cursor.path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # a name this locale cannot say is not judged either
        return False
    return False
