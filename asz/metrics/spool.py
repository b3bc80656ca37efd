"""The spool: metrics requests under ``_metrics/``, each a write-once file, ordered by number.

A file holds one ``ExportMetricsServiceRequest``: as asz derived it, or byte for byte as a receiver was
sent it. It stays until it was sent, and after that until somebody prunes.
"""

import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from asz.storage.files import (
    TEMPORARY,
    install,
    make_directory,
    sync,
    write_once,
    write_pending,
)
from asz.storage.root import METRICS, Root
from asz.storage.steps import Step, step
from asz.storage.times import stamp_now

Origin = Literal["derived", "otlp"]
"""Who made a request: asz itself, or a peer of the receiver."""

_NAME: Final = re.compile(
    r"metrics-(?P<stamp>\d{8}T\d{6}\.\d{9}Z)-(?P<seq>\d{6,})-(?P<origin>derived|otlp)\.pb", re.ASCII
)


@dataclass(frozen=True, slots=True, order=True)
class SpoolEntry:
    """One request of the spool. Entries sort in the order in which they are sent."""

    seq: int
    name: str
    origin: Origin

    @property
    def src(self) -> str:
        """Path below the root, forward slashes."""
        return f"{METRICS}/{self.name}"


def new_entries(first: int, count: int, origin: Origin) -> list[SpoolEntry]:
    """Names for requests of this moment, with consecutive numbers."""
    _at, stamp = stamp_now()
    return [
        SpoolEntry(seq, f"metrics-{stamp}-{seq:06d}-{origin}.pb", origin)
        for seq in range(first, first + count)
    ]


class Spool:
    """The spool of one root."""

    def __init__(self, root: Root) -> None:
        self.directory = root.path / METRICS

    def entries(self) -> list[SpoolEntry]:
        """Every request, in order; other files are not looked at."""
        try:
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        found = ((name, _NAME.fullmatch(name)) for name in names)
        return sorted(
            SpoolEntry(int(match["seq"]), name, "otlp" if match["origin"] == "otlp" else "derived")
            for name, match in found
            if match is not None
        )

    def last_seq(self) -> int:
        """Highest number in use; 0 when the spool is empty."""
        return max((entry.seq for entry in self.entries()), default=0)

    def read(self, entry: SpoolEntry) -> bytes:
        """The bytes of a request.

        :raises OSError: the file cannot be read.
        """
        return (self.directory / entry.name).read_bytes()

    def put(self, entry: SpoolEntry, body: bytes) -> None:
        """Keep a request under the name its caller keeps too; durable when this returns.

        :raises FileExistsError: the very name is taken.
        :raises OSError: the disk takes no more.
        """
        self.make()
        write_once(self.directory, entry.name, body, Step.SPOOL_WRITE, Step.SPOOL_INSTALL)

    def add_all(self, first: int, bodies: Sequence[bytes], origin: Origin) -> list[SpoolEntry]:
        """Keep requests under consecutive numbers from ``first`` on, all of them durable when this
        returns. When it fails none of them stays, so that whoever sends them again is not counted twice.

        :raises FileExistsError: the very name of one is taken.
        :raises OSError: the disk takes no more.
        """
        self.make()
        entries = new_entries(first, len(bodies), origin)
        try:
            install(
                [
                    write_pending(self.directory, entry.name, body, Step.SPOOL_WRITE)
                    for entry, body in zip(entries, bodies, strict=True)
                ],
                Step.SPOOL_INSTALL,
            )
        except BaseException as error:
            taken = isinstance(error, FileExistsError)  # a file that is not ours to remove
            self._withdraw(entries, visible=not taken)
            raise
        return entries

    def _withdraw(self, entries: Sequence[SpoolEntry], *, visible: bool) -> None:
        for entry in entries:
            temporary = self.directory / (TEMPORARY + entry.name)
            for path in (temporary, *([self.path(entry)] if visible else [])):
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def make(self) -> None:
        """Make the directory.

        :raises RootError: it cannot be made.
        """
        new = not self.directory.exists()
        make_directory(self.directory)
        if new:
            with step(Step.DIRECTORY_SYNC):
                sync(self.directory.parent)

    def remove_leftovers(self, origin: Origin) -> None:
        """Remove what an interrupted writer of one origin left; only that origin's one writer may."""
        for path in self.directory.glob(f"{TEMPORARY}metrics-*-{origin}.pb"):
            path.unlink(missing_ok=True)

    def remove(self, entry: SpoolEntry) -> None:
        """Remove a request that was sent.

        :raises OSError: it cannot be removed.
        """
        with step(Step.SPOOL_PRUNE):
            self.path(entry).unlink(missing_ok=True)

    def path(self, entry: SpoolEntry) -> Path:
        """Where a request's file is."""
        return self.directory / entry.name
