"""What a pass of pushing did."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Protocol


@dataclass(slots=True)
class Counts:
    """The numbers of the pass line, in its order."""

    files: int = 0
    """Landed files the receiver took."""
    rounds: int = 0
    metrics: int = 0
    """Requests of the spool."""
    bytes: int = 0
    """Of files, as they are on disk."""
    requests: int = 0
    """Sent, whatever the answer."""
    rejected: int = 0
    """Records and points the receiver took and did not want."""
    refused: int = 0
    """Files this receiver does not take even alone; left until they are asked for again."""
    pending: int = 0
    """Files that a later pass sends."""
    damaged: int = 0
    """Files that are not what their format says; they are not sent."""
    errors: int = 0


@dataclass(slots=True)
class Pass:
    """One pass. Problems, warnings and notes are one line each."""

    counts: Counts = field(default_factory=Counts)
    problems: list[str] = field(default_factory=list)
    """What was left, and why."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wait: float = 0.0
    """Seconds the receiver wants to be left alone."""
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing was left: what decides the exit status."""
        counts = self.counts
        return not (counts.refused or counts.pending or counts.damaged or counts.errors)

    def numbers(self) -> dict[str, int | float]:
        """The numbers of the pass line, sizes in bytes."""
        return {**asdict(self.counts), "seconds": round(self.seconds, 3)}


class Display(Protocol):
    """Shows how far a pass is."""

    def start(self, files: int, size: int) -> None:
        """So many files of so many bytes wait."""

    def update(self, files: int, size: int) -> None:
        """What is done so far."""


class Nothing:
    """Shows nothing."""

    def start(self, files: int, size: int) -> None:
        """Nothing."""

    def update(self, files: int, size: int) -> None:
        """Nothing."""


def some(paths: Iterable[str], most: int = 3) -> str:
    """The first of some paths as one text, and how many there are besides."""
    found = list(paths)
    more = len(found) - most
    return ", ".join(found[:most]) + (f" and {more} more" if more > 0 else "")
