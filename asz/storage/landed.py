"""What lies in a session's directory: its landed files by sequence, and names for new ones."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asz.storage.files import TEMPORARY, remove_temporaries
from asz.storage.sd import FILE_KINDS, FILE_NAME

PLACES: Final = ("streams", "runs")
_KIND_OF_WORD: Final = {word: kind for kind, word in FILE_KINDS.items()}


@dataclass(frozen=True, slots=True)
class LandedName:
    """A landed file by its name alone; nothing of it was read."""

    seq: int
    kind: str
    """Header kind the file's name stands for."""
    place: str
    """``streams/<stream>`` or ``runs/<batch>``."""
    name: str

    @property
    def path(self) -> str:
        """Path below the session directory, forward slashes."""
        return f"{self.place}/{self.name}"


def landed_names(session_dir: Path) -> list[LandedName]:
    """Every landed file of a session, in ascending sequence. Other files are not looked at."""
    found = []
    for place, directory in _directories(session_dir):
        with os.scandir(directory) as entries:
            for entry in entries:
                match = FILE_NAME.match(entry.name)
                if match and entry.is_file(follow_symlinks=False):
                    kind = _KIND_OF_WORD[match["word"]]
                    found.append(LandedName(int(match["seq"]), kind, place, entry.name))
    return sorted(found, key=lambda item: (item.seq, item.path))


def landed_bytes(session_dir: Path) -> int:
    """Bytes of all landed files of a session."""
    return sum(
        entry.stat(follow_symlinks=False).st_size
        for _place, directory in _directories(session_dir)
        for entry in os.scandir(directory)
        if FILE_NAME.match(entry.name)
    )


def last_landed(session_dir: Path) -> int:
    """Highest sequence on disk; 0 when nothing landed."""
    return max(
        (
            int(match["seq"])
            for _place, directory in _directories(session_dir)
            for name in os.listdir(directory)
            if (match := FILE_NAME.match(name))
        ),
        default=0,
    )


def remove_leftovers(session_dir: Path) -> None:
    """Remove temporary files of an interrupted pass. Only the session lock's holder may."""
    for _place, path in _directories(session_dir):
        directory = Path(path)
        if not directory.parent.is_symlink():
            remove_temporaries(directory)


def _directories(session_dir: Path) -> Iterator[tuple[str, str]]:
    """Each place and its path; as text, for there are thousands and a pass looks at all."""
    for place in PLACES:
        try:
            with os.scandir(session_dir / place) as entries:
                found = sorted((e.name, e.path) for e in entries if e.is_dir(follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name, path in found:
            if not name.startswith(TEMPORARY):
                yield f"{place}/{name}", path


def file_name(kind: str, stamp: str, seq: int) -> str:
    """Name of a landed file.

    :param stamp: the pass's stamp for this session, as ``stamp_now`` gives it.
    """
    return f"{FILE_KINDS[kind]}-{stamp}-{seq:06d}.sd"
