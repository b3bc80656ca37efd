"""The storage root: which directory it is, whether it may be written, and what lies in it."""

import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asz.errors import NotFoundError, RootError
from asz.jsonio import decode, encode
from asz.storage.files import TEMPORARY, make_directory, write_once
from asz.storage.names import safe_component
from asz.storage.steps import Step

MARKER: Final = "_root.json"
FORMAT: Final = "asz-root/1"
CONVERSATIONS: Final = "_conversations"
METRICS: Final = "_metrics"
EXPORT: Final = "_export"
CACHE: Final = "_cache"
"""What can be deleted at any time, for all sessions together."""
_OWN: Final = frozenset((MARKER, CONVERSATIONS, METRICS, EXPORT, CACHE))
_LITTER: Final = frozenset((TEMPORARY + MARKER, ".DS_Store"))
"""What may lie in a directory that is empty all the same: a marker that was never finished."""
_making: Final = threading.Lock()
"""One thread of a process makes a root: a receiver may need it while the first pass does."""

_MARK_TURNS: Final = 20
_SESSION_PARTS: Final = ("streams", "runs", "state.db", ".lock")


@dataclass(frozen=True, slots=True)
class Root:
    """An opened storage root. Paths handed out are below ``path`` whatever the ids say."""

    path: Path

    @classmethod
    def open(cls, path: Path, *, write: bool) -> "Root":
        """A root that may be used. With ``write`` one that does not exist yet will do; see ``make``.

        :raises RootError: there is none, it is something else, or a newer one.
        """
        root = cls(Path(os.path.abspath(path)))
        if not root.path.exists() and not root.path.is_symlink():
            if not write:
                raise RootError(f"{root.path}: no storage root here yet; run: asz collect")
        elif not root.path.is_dir():
            raise RootError(
                f"{root.path}: not a directory, so no storage root; choose another --root"
            )
        else:
            root._check_format(write)
        return root

    def make(self) -> None:
        """Make the directory and its marker where they are missing.

        :raises RootError: the disk does not allow it.
        """
        with _making:
            if not self.path.exists():
                _make(self.path)
            if not (self.path / MARKER).exists():
                _mark(self.path)
                with suppress(
                    PermissionError
                ):  # somebody else's directory; what is in it is private
                    self.path.chmod(0o700)

    def _check_format(self, write: bool) -> None:
        marker = self.path / MARKER
        try:
            text = marker.read_bytes()
        except FileNotFoundError:
            self._unmarked(write)
            return
        except OSError as error:
            raise RootError(f"{marker}: cannot be read: {error.strerror}") from error
        try:
            found = decode(text)["format"]
        except (ValueError, TypeError, KeyError):
            raise RootError(f'{marker}: damaged; it should hold {{"format":"{FORMAT}"}}') from None
        if found != FORMAT:
            newer = isinstance(found, str) and found.startswith("asz-root/")
            what = "written by a newer asz; upgrade asz" if newer else "not a format of asz"
            raise RootError(f"{self.path}: storage root format {found!r}: {what}")

    def _unmarked(self, write: bool) -> None:
        """A directory without a marker is new when empty, and read, never written, when known."""
        try:
            names = sorted(os.listdir(self.path))
        except OSError as error:
            raise RootError(f"{self.path}: cannot be read: {error.strerror}") from error
        if all(name in _LITTER for name in names):
            return
        strange = next((name for name in names if not self._known(name)), None)
        if strange is not None:
            raise RootError(
                f"{self.path}: not a storage root, it holds {strange!r}; choose another --root"
            )
        if write:
            raise RootError(
                f"{self.path}: holds sessions but no {MARKER}, so it is read only; "
                "collect into another --root"
            )

    def _known(self, name: str) -> bool:
        if name in _OWN or name in _LITTER:
            return True
        directory = self.path / name
        return safe_component(name) and any((directory / part).exists() for part in _SESSION_PARTS)

    def sessions(self) -> list[str]:
        """Ids of all sessions, in code point order."""
        with os.scandir(self.path) as entries:
            return sorted(e.name for e in entries if safe_component(e.name) and _is_directory(e))

    def conversations(self) -> list[str]:
        """Ids of all conversations, in code point order."""
        try:
            with os.scandir(self.path / CONVERSATIONS) as entries:
                return sorted(
                    e.name for e in entries if safe_component(e.name) and _is_directory(e)
                )
        except FileNotFoundError:
            return []

    def session_dir(self, session: str) -> Path:
        """Where a session's landed files are.

        :raises NotFoundError: ``session`` cannot be a session id.
        """
        if not safe_component(session):
            raise NotFoundError(f"{session!r} cannot be a session id")
        return self.path / session

    def conversation_dir(self, conversation: str) -> Path:
        """Where a conversation's chain is.

        :raises NotFoundError: ``conversation`` cannot be a conversation id.
        """
        if not safe_component(conversation):
            raise NotFoundError(f"{conversation!r} cannot be a conversation id")
        return self.path / CONVERSATIONS / conversation

    def make_session_dir(self, session: str) -> Path:
        """The session's directory, made when missing.

        :raises RootError: this file system folds case and another session has the folded name.
        """
        path = self.session_dir(session)
        new = not path.exists()
        make_directory(path)
        if not new and session not in os.listdir(self.path):
            raise RootError(
                f"{path}: this file system does not tell upper from lower case and another session "
                "has that name; use a --root on one that does"
            )
        return path

    def check_apart(self, sources: Iterable[Path]) -> None:
        """Refuse a root and a source root that lie one inside the other.

        :raises RootError: naming both.
        """
        own = self.path.resolve()
        for source in sources:
            other = source.resolve()
            if own == other or own in other.parents or other in own.parents:
                raise RootError(
                    f"{self.path}: the storage root and the source root {source} lie one inside the "
                    "other; choose another --root"
                )


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RootError(f"{path}: cannot be made: {error.strerror}") from error
    make_directory(path)


def _mark(path: Path) -> None:
    text = encode({"format": FORMAT}) + b"\n"
    for _turn in range(_MARK_TURNS):
        try:
            write_once(path, MARKER, text, Step.ROOT_MARK, Step.ROOT_MARK)
        except (FileExistsError, FileNotFoundError):
            pass  # another process makes it too: the temporary file was its, or it was first
        except OSError as error:
            raise RootError(f"{path}: cannot be written: {error.strerror}") from error
        if (path / MARKER).exists():
            return
    raise RootError(f"{path / MARKER}: cannot be made, something else has its name; move it away")
