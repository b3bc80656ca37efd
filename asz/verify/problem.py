"""What verification reports."""

from dataclasses import dataclass
from pathlib import Path

from asz.errors import FormatError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it must be; its text is one line."""

    what: str
    where: str
    """Path below the storage root, forward slashes."""
    round: int | None = None
    seq: int | None = None

    def __str__(self) -> str:
        named = (("round", self.round), ("sequence", self.seq))
        places = ", ".join(f"{word} {number}" for word, number in named if number is not None)
        return f"{self.where}: {self.what}" + (f" ({places})" if places else "")


@dataclass(slots=True)
class Tally:
    """What was looked at."""

    sessions: int = 0
    files: int = 0
    records: int = 0
    replayed: int = 0
    """Records that landed again after an interrupted pass; they are no problem."""
    rounds: int = 0


def reason(error: FormatError, path: Path) -> str:
    """An error's message without the path in front, which a problem names itself."""
    return str(error).removeprefix(f"{path}: ")
