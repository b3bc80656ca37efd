"""What was counted: ``_metrics/derived.db``, opened by the holder of ``_metrics/.lock``.

One transaction marks calls as counted and stores the requests that carry them. Only then do the requests
become files of the spool, under names the database knows, and their bytes are released. So a crash
anywhere neither loses a point nor makes it twice.

The spool holds sums and no call ids, so a database that was lost cannot be made again from it. Which calls
were counted is then unknown, and a count that is missing is better than one that was sent twice: all calls
that have landed until then are taken as counted.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from asz.metrics.spool import Spool, SpoolEntry, new_entries
from asz.storage.database import DamagedError, Schema, open_database, put_aside
from asz.storage.files import write_once
from asz.storage.steps import Step, step
from asz.storage.times import LATEST_NS

NAME: Final = "derived.db"
MARKER: Final = "derived.begun"
"""Says that there is, or was, a database: without it none means that nothing was derived yet."""

_ALL: Final = LATEST_NS + 1
"""A look-back that no call is young enough for."""

_SCHEMA: Final = Schema(
    "CREATE TABLE runtime(name PRIMARY KEY,since,complete) WITHOUT ROWID;"
    "CREATE TABLE looked(runtime,session,digest,PRIMARY KEY(runtime,session)) WITHOUT ROWID;"
    "CREATE TABLE counted(runtime,call,PRIMARY KEY(runtime,call)) WITHOUT ROWID;"
    "CREATE TABLE series(key PRIMARY KEY,through) WITHOUT ROWID;"
    "CREATE TABLE request(number INTEGER PRIMARY KEY,name,body);"
    "CREATE TABLE begun(floor);",
    version=1,
)


@dataclass(slots=True)
class Counted:
    """What one transaction saves for one runtime."""

    runtime: str
    calls: set[str] = field(default_factory=set)
    """Ids of calls that count from now on, or that are too old to."""
    looked: dict[str, str] = field(default_factory=dict)
    """Sessions there is nothing left to count of, each with the digest of what it had landed."""
    through: dict[str, int] = field(default_factory=dict)
    """Where the last window of a series ends, by its key."""
    bodies: list[bytes] = field(default_factory=list)
    """Requests for the spool."""


class Store:
    """The database. A method raises ``OSError`` or ``sqlite3.Error`` when the disk takes no more."""

    def __init__(
        self, spool: Spool, sent: Callable[[], Collection[str]], connection: sqlite3.Connection
    ) -> None:
        self._spool = spool
        self._sent = sent
        self._connection = connection
        self._floor = 0
        self.problem: str | None = None
        """What a person should know of how it was found."""

    @classmethod
    def open(
        cls,
        spool: Spool,
        sent: Callable[[], Collection[str]],
        runtimes: Iterable[str],
        floor: Callable[[], int],
    ) -> "Store":
        """Open the database of a spool, made when missing.

        :param sent: names of the spool's files that were sent, those included that were pruned since.
        :param runtimes: those whose metrics are on.
        :param floor: asked when the database was lost: nothing derived before ends later than that.
        """
        path = spool.directory / NAME
        damaged = False
        try:
            connection = open_database(path, _SCHEMA)
        except DamagedError:
            put_aside(path)
            connection = open_database(path, _SCHEMA)
            damaged = True
        store = cls(spool, sent, connection)
        try:
            store._begin(runtimes, floor, damaged)
        except BaseException:
            connection.close()
            raise
        return store

    def _begin(self, runtimes: Iterable[str], floor: Callable[[], int], damaged: bool) -> None:
        found = self._connection.execute("SELECT floor FROM begun").fetchone()
        if found is not None:
            self._floor = found[0]
        elif damaged or self._derived_before():
            self._floor = floor()
            self.problem = (
                f"{self._spool.directory / NAME}: {'damaged' if damaged else 'lost'}; calls that landed "
                "until now are taken as counted, so that none is counted twice; asz metrics has them"
            )
            self._set_begun((name, _ALL) for name in set(runtimes))
        else:
            self._set_begun(())
        marker = self._spool.directory / MARKER
        if not marker.exists():
            with suppress(FileExistsError):
                write_once(marker.parent, MARKER, b"", Step.METRICS_MARK, Step.METRICS_MARK)

    def _derived_before(self) -> bool:
        """Whether anything says that there was a database before this one."""
        names = (entry.name for entry in self._spool.entries())
        return (self._spool.directory / MARKER).exists() or any(
            name.endswith("-derived.pb") for name in chain(names, self._sent())
        )

    def _set_begun(self, runtimes: Iterable[tuple[str, int]]) -> None:
        with self._transaction(Step.METRICS_BEGIN):
            self._connection.execute("INSERT INTO begun VALUES(?)", (self._floor,))
            self._connection.executemany("INSERT INTO runtime VALUES(?,?,0)", runtimes)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    # ---- what is known

    def since(self, runtime: str, first: int) -> int:
        """Time from which calls of a runtime count, nanoseconds since the epoch: 0 once a first derivation
        has been through all of them.

        :param first: the answer when none has begun; kept until the first derivation is complete.
        """
        query = "SELECT since,complete FROM runtime WHERE name=?"
        found = self._connection.execute(query, (runtime,)).fetchone()
        if found is None:
            with self._transaction(Step.METRICS_BEGIN):
                values = (runtime, max(first, 0))
                self._connection.execute("INSERT INTO runtime VALUES(?,?,0)", values)
            return max(first, 0)
        since, complete = found
        return 0 if complete else int(since)

    def complete(self, runtime: str) -> None:
        """The first derivation has been through all that landed; from now on everything new counts."""
        update = "UPDATE runtime SET complete=1 WHERE name=? AND complete=0"
        with self._transaction(Step.METRICS_BEGIN):
            self._connection.execute(update, (runtime,))

    def looked_at(self, runtime: str) -> dict[str, str]:
        """Sessions there was nothing left to count of, and the digest of what they had landed then."""
        query = "SELECT session,digest FROM looked WHERE runtime=?"
        return dict(self._connection.execute(query, (runtime,)))

    def counted(self, runtime: str, call: str) -> bool:
        """Whether a call was counted, or was too old to be."""
        query = "SELECT 1 FROM counted WHERE runtime=? AND call=?"
        return self._connection.execute(query, (runtime, call)).fetchone() is not None

    def ended(self, series: str) -> int:
        """Where the last window of a series ends; 0 when it has none."""
        query = "SELECT through FROM series WHERE key=?"
        found = self._connection.execute(query, (series,)).fetchone()
        return self._floor if found is None else int(found[0])

    # ---- what changes

    def save(self, counted: Counted) -> None:
        """Mark calls and store their requests, all or nothing."""
        with self._transaction(Step.METRICS_COUNT):
            execute = self._connection.executemany
            name = counted.runtime
            execute("INSERT INTO counted VALUES(?,?)", [(name, call) for call in counted.calls])
            looked = [(name, session, digest) for session, digest in counted.looked.items()]
            execute("INSERT OR REPLACE INTO looked VALUES(?,?,?)", looked)
            execute("INSERT OR REPLACE INTO series VALUES(?,?)", counted.through.items())
            entries = new_entries(self._next(), len(counted.bodies), "derived")
            execute(
                "INSERT INTO request VALUES(?,?,?)",
                [(e.seq, e.name, body) for e, body in zip(entries, counted.bodies, strict=True)],
            )

    def _next(self) -> int:
        (issued,) = self._connection.execute("SELECT max(number) FROM request").fetchone()
        return max(issued or 0, self._spool.last_seq()) + 1

    def install(self) -> int:
        """Put every stored request into the spool that is neither there nor was sent and pruned; how
        many."""
        query = "SELECT number,name FROM request WHERE body IS NOT NULL ORDER BY number"
        installed = 0
        for number, name in self._connection.execute(query).fetchall():
            entry = SpoolEntry(number, name, "derived")
            if not self._spool.path(entry).exists() and name not in self._sent():
                body = "SELECT body FROM request WHERE number=?"
                self._spool.put(entry, self._connection.execute(body, (number,)).fetchone()[0])
                installed += 1
            with self._transaction(Step.METRICS_RELEASE):
                release = "UPDATE request SET body=NULL WHERE number=?"
                self._connection.execute(release, (number,))
        return installed

    @contextmanager
    def _transaction(self, name: Step) -> Iterator[None]:
        with step(name):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
