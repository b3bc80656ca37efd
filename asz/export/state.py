"""What was sent: ``_export/state.db``, kept by path and digest for each receiver.

It is saved after each request a receiver took. Lost, everything is sent once more.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from asz.export.inventory import Item
from asz.storage.database import DamagedError, Schema, open_database, put_aside, read_database
from asz.storage.files import make_directory
from asz.storage.root import EXPORT, METRICS, Root
from asz.storage.steps import Step, step

FILE: Final = "state.db"
LOCK: Final = ".lock"
LONGEST_WAIT: Final = 86_400.0
"""Seconds after which a receiver that asked to be left alone is tried again, whatever it asked."""

Outcome = Literal["sent", "refused"]

_SCHEMA: Final = Schema(
    "CREATE TABLE file(receiver,path,digest,size,mtime_ns,outcome,request,"
    "PRIMARY KEY(receiver,path,digest)) WITHOUT ROWID;"
    "CREATE TABLE request(id INTEGER PRIMARY KEY,receiver,at_ns,records,rejected,message);"
    "CREATE TABLE wait(receiver PRIMARY KEY,asked_at,seconds) WITHOUT ROWID;",
    version=1,
)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of one file, as it was then."""

    digest: str
    """SHA-256 of its bytes."""
    size: int
    mtime_ns: int
    outcome: Outcome
    """``refused``: the receiver does not take it, even alone."""

    def is_of(self, item: Item) -> bool:
        """Whether the file looks the same, so that it need not be read: it is write-once."""
        return (self.size, self.mtime_ns) == (item.size, item.mtime_ns)


@dataclass(frozen=True, slots=True)
class Digested:
    """A file that was read."""

    item: Item
    digest: str


class SentState:
    """Sent-state of one root for one receiver, opened by the holder of ``_export/.lock``."""

    def __init__(self, connection: sqlite3.Connection, receiver: str, rebuilt: bool) -> None:
        self._connection = connection
        self._receiver = receiver
        self.rebuilt = rebuilt
        """Whether a damaged one was put aside: everything is sent once more."""

    @classmethod
    def open(cls, root: Root, receiver: str) -> "SentState":
        """Open it, anew when there is none or a damaged one.

        :param receiver: the receiver's name.
        :raises OSError: it cannot be read or written now.
        """
        path = export_dir(root) / FILE
        try:
            connection = open_database(path, _SCHEMA)
            return cls(connection, receiver, rebuilt=False)
        except DamagedError:
            put_aside(path)
            return cls(open_database(path, _SCHEMA), receiver, rebuilt=True)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def known(self) -> dict[str, list[Sent]]:
        """Every file this receiver was sent, by path; more than one where its bytes were replaced."""
        found: dict[str, list[Sent]] = {}
        for path, *values in self._connection.execute(
            "SELECT path,digest,size,mtime_ns,outcome FROM file WHERE receiver=?",
            (self._receiver,),
        ):
            found.setdefault(path, []).append(Sent(*values))
        return found

    def take(self, files: Iterable[Digested], at_ns: int, rejected: int, message: str) -> None:
        """Save that a request was taken, and what of it the receiver rejected."""
        taken = list(files)
        with self._transaction() as execute:
            request = None
            if rejected:
                request = execute(
                    "INSERT INTO request(receiver,at_ns,records,rejected,message) VALUES(?,?,?,?,?)",
                    (self._receiver, at_ns, len(taken), rejected, message),
                ).lastrowid
            for file in taken:
                self._put(execute, file, "sent", request)

    def refuse(self, file: Digested, at_ns: int, message: str) -> None:
        """Save that the receiver does not take a file, even alone."""
        with self._transaction() as execute:
            request = execute(
                "INSERT INTO request(receiver,at_ns,records,rejected,message) VALUES(?,?,1,0,?)",
                (self._receiver, at_ns, message),
            ).lastrowid
            self._put(execute, file, "refused", request)

    def touch(self, files: Iterable[Digested]) -> None:
        """Note that files look different now and hold the bytes they held, as in a copied root."""
        with self._transaction() as execute:
            for file in files:
                item = file.item
                execute(
                    "UPDATE file SET size=?,mtime_ns=? WHERE receiver=? AND path=? AND digest=?",
                    (item.size, item.mtime_ns, self._receiver, item.path, file.digest),
                )

    def wait(self, now: float, seconds: float) -> None:
        """Save that the receiver asked to be left alone.

        :param now: seconds since the epoch.
        :param seconds: ``LONGEST_WAIT`` at most.
        """
        with self._transaction() as execute:
            execute(
                "INSERT OR REPLACE INTO wait VALUES(?,?,?)",
                (self._receiver, now, seconds),
            )

    def remaining(self, now: float) -> float:
        """Seconds the receiver still wants to be left alone; 0 when it does not."""
        found = self._connection.execute(
            "SELECT asked_at,seconds FROM wait WHERE receiver=?", (self._receiver,)
        ).fetchone()
        if found is None or now < found[0]:  # a clock that was put back must not stretch the wait
            return 0.0
        return max(0.0, float(found[0] + found[1] - now))

    def _put(
        self, execute: "_Execute", file: Digested, outcome: Outcome, request: int | None
    ) -> None:
        item = file.item
        values = (item.size, item.mtime_ns, outcome, request)
        execute(
            "INSERT OR REPLACE INTO file VALUES(?,?,?,?,?,?,?)",
            (self._receiver, item.path, file.digest, *values),
        )

    @contextmanager
    def _transaction(self) -> "Iterator[_Execute]":
        with step(Step.SENT_SAVE):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


_Execute = Callable[..., sqlite3.Cursor]


def export_dir(root: Root) -> Path:
    """``_export`` of a root, made when missing.

    :raises RootError: it cannot be made.
    """
    path = root.path / EXPORT
    make_directory(path)
    return path


def sent_metrics(root: Root) -> frozenset[str]:
    """Names of the spool's files that some receiver took, those included that were pruned since. Needs no
    lock; empty when nothing was sent."""
    connection = read_database(root.path / EXPORT / FILE, _SCHEMA)
    if connection is None:
        return frozenset()
    with closing(connection):
        query = "SELECT DISTINCT path FROM file WHERE outcome='sent' AND path LIKE ?"
        rows = connection.execute(query, (f"{METRICS}/%",)).fetchall()
    return frozenset(str(path).rpartition("/")[2] for (path,) in rows)
