"""Deriving metrics from what landed: finished calls that were not counted, handed to their adapter once,
and its points into the spool."""

import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from asz.errors import AszError, BusyError
from asz.metrics import windows
from asz.metrics.calls import ReportedCall, calls_of, runtime_of
from asz.metrics.spool import Spool
from asz.metrics.store import Counted, Store
from asz.metrics.waiting import Patience
from asz.storage import index
from asz.storage.locks import hold
from asz.storage.root import Root
from asz_hookspecs import FinishedCall, MetricPoint

LOCK: Final = ".lock"
"""In ``_metrics/``: one process derives."""

BATCH_CALLS: Final = 20_000
"""Calls after which a transaction is made: bounds the memory of a first derivation."""

_SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Meter:
    """One adapter entry whose metrics are on."""

    runtime: str
    """Display name of the runtime whose sessions it counts, whichever entry collected them."""
    service_name: str
    lookback: int
    """Seconds the first derivation reaches back."""
    points: Callable[[Sequence[FinishedCall]], Sequence[MetricPoint]]
    """Calls the adapter's hook; raises ``AszError`` and nothing else."""


@dataclass(slots=True)
class Derived:
    """What a derivation did."""

    calls: int = 0
    """Calls that were counted."""
    points: int = 0
    requests: int = 0
    """Requests that were put into the spool."""
    errors: list[str] = field(default_factory=list)
    busy: str | None = None
    """Set when another process derives; a later pass takes what is new."""


@dataclass(frozen=True, slots=True)
class Deriver:
    """Derives the metrics of one root, pass by pass."""

    root: Root
    meters: Sequence[Meter]
    sent: Callable[[], Collection[str]]
    """Names of the spool's files that were sent, those included that were pruned since."""
    patience: Patience | None = None
    """For a watching pipeline; a single pass does not wait."""
    now: Callable[[], int] = time.time_ns

    def run(self, *, whole: bool) -> Derived:
        """Derive what is new. Whatever goes wrong is in the result.

        :param whole: whether everything there was has landed. While it has not, calls of a root's past
            may still come, and the first derivation goes on.
        """
        done = Derived()
        spool = Spool(self.root)
        try:
            spool.make()
            with hold(spool.directory / LOCK):
                spool.remove_leftovers("derived")
                self._run(spool, done, whole)
        except BusyError:
            done.busy = "metrics: busy: another process derives them; a later pass goes on"
        except AszError as error:
            done.errors.append(f"metrics: {error}")
        except OSError as error:
            where = error.filename or spool.directory
            done.errors.append(f"metrics: {where}: cannot be written: {error.strerror or error}")
        except sqlite3.Error as error:
            done.errors.append(f"metrics: {spool.directory}: derived.db cannot be written: {error}")
        return done

    def _run(self, spool: Spool, done: Derived, whole: bool) -> None:
        runtimes = [meter.runtime for meter in self.meters]
        if self.patience is not None:
            self.patience.begin()
        with Store.open(spool, self.sent, runtimes, lambda: _floor(spool, self.now())) as store:
            if store.problem is not None:
                done.errors.append(f"metrics: {store.problem}")
            done.requests += store.install()
            for meter in self.meters:
                try:
                    _Derivation(self, store, meter, done).run(whole)
                except (
                    AszError
                ) as error:  # the adapter's, whose calls are tried again in a later pass
                    done.errors.append(f"metrics: {error}")


class _Derivation:
    """One meter's share of a derivation."""

    def __init__(self, deriver: Deriver, store: Store, meter: Meter, done: Derived) -> None:
        self._deriver = deriver
        self._store = store
        self._meter = meter
        self._done = done
        self._batch = Counted(meter.runtime)
        self._calls: list[FinishedCall] = []

    def run(self, whole: bool) -> None:
        meter, store = self._meter, self._store
        since = store.since(meter.runtime, self._deriver.now() - meter.lookback * _SECOND)
        looked = store.looked_at(meter.runtime)
        sessions = self._deriver.root.sessions()
        for session in sessions:
            try:
                self._look(session, looked.get(session), since)
            except (AszError, OSError) as error:
                self._done.errors.append(f"metrics: {session}: {error}")
            if len(self._batch.calls) >= BATCH_CALLS:
                self._save()
        self._save()
        if since and whole and sessions:  # an empty root has its history still to come
            store.complete(meter.runtime)

    def _look(self, session: str, looked: str | None, since: int) -> None:
        """Take the calls of a session that are new since it was looked at.

        :raises FormatError: a landed file that had to be read is damaged.
        """
        directory = self._deriver.root.session_dir(session)
        landed = index.coverage(directory)
        if not landed.through_seq or landed.digest == looked:
            return
        rows = index.load(directory, landed.through_seq)
        waits = False
        if runtime_of(rows) == self._meter.runtime:
            for call in calls_of(rows):
                waits |= not self._take(call, since)
        if not waits:
            self._batch.looked[session] = landed.digest

    def _take(self, call: ReportedCall, since: int) -> bool:
        """Count a call that counts and was not counted; ``False`` when it waits for the rest of it."""
        counted = call.counted()
        if counted is None:
            return True
        if call.id in self._batch.calls or self._store.counted(self._meter.runtime, call.id):
            return True
        if counted.time >= since:
            patience = self._deriver.patience
            if call.last and patience is not None and patience.waits(call):
                return False
            self._calls.append(counted)
        self._batch.calls.add(call.id)
        return True

    def _save(self) -> None:
        """Count what was taken: one transaction, then the spool.

        :raises AdapterFailure: the adapter failed; nothing of it counts.
        """
        batch, calls = self._batch, self._calls
        self._batch, self._calls = Counted(self._meter.runtime), []
        if calls:
            cut = windows.cut(self._meter.points(calls), self._store.ended)
            batch.through = {window.series.key: window.end for window in cut}
            batch.bodies = _encoded(self._meter.service_name, cut)
            self._done.points += len(cut)
        if batch.calls or batch.looked:
            self._store.save(batch)
            self._done.calls += len(calls)
            self._done.requests += self._store.install()


def _encoded(service_name: str, cut: Sequence[windows.Window]) -> list[bytes]:
    from asz.metrics.requests import encode  # protobuf is loaded when there is something to write

    return encode(service_name, cut)


def _floor(spool: Spool, now: int) -> int:
    """A moment no window of what was derived so far ends after, as far as can be known: the end of this
    minute, or of the latest window the spool still holds."""
    from asz.metrics.requests import latest_end

    ends = [windows.minute(now) + windows.MINUTE_NS]
    for entry in spool.entries():
        if entry.origin == "derived":
            try:
                ends.append(latest_end(spool.read(entry)))
            except (OSError, ValueError):
                continue  # asz push says what is wrong with it
    return max(ends)
