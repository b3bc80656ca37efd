"""What a pass remembers of every session, so that one with nothing new opens no database.

One file of the root holds, for each session, what planning needs of its cursors and the state of the files
that was read from. A session whose files look otherwise is looked at anew; the memory can be deleted at any
time. It is not believed about sources: each of them is compared with its own file in every pass.
"""

import os
import time
from contextlib import suppress
from typing import Final

import msgspec

from asz.errors import RootError
from asz.storage.cursors import Cursor, read_planned
from asz.storage.files import make_directory, replace
from asz.storage.index import covered
from asz.storage.landed import last_landed
from asz.storage.root import CACHE, Root
from asz.storage.steps import Step

FILE: Final = "sessions"
FORMAT: Final = 1

SETTLED_NS: Final = 2_000_000_000
"""How old a database must be before its look is remembered: a second write may share the time of the
first."""

Stamp = tuple[int, int, int]
"""Size, modification time and inode of a file; zeros when there is none."""


class Standing(msgspec.Struct, array_like=True):
    """How a session stood when it was looked at."""

    state: Stamp
    """Of ``state.db``."""
    index: Stamp
    """Of ``index.db``."""
    cursors: list[Cursor]
    """Without what only reading needs: digest, carry and position."""
    copies: dict[str, str]
    """Files that are copies of others, as ``fingerprint`` has them."""
    gap: bool = False
    """Whether landed files are not indexed."""
    chain: str = ""
    """The assembler's mark when nothing was left to assemble."""

    def by_identity(self) -> dict[tuple[str, str, str], Cursor]:
        """The cursors by what they are kept under."""
        return {cursor.identity: cursor for cursor in self.cursors}


class _Kept(msgspec.Struct, array_like=True):
    format: int
    sessions: dict[str, Standing]


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(_Kept)


class Memory:
    """The standing of the sessions of one root."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._path = root.path / CACHE / FILE
        self._kept: dict[str, Standing] = {}
        self._asked: dict[str, Standing] = {}
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            kept = _DECODER.decode(self._path.read_bytes())
            if kept.format == FORMAT:
                self._kept = kept.sessions
        self._before = dict(self._kept)

    def of(self, session: str) -> Standing:
        """How a session stands.

        :raises NewerError: a newer asz wrote its cursors.
        """
        known = self._asked.get(session)
        if known is None:
            directory = f"{self._root.path}/{session}"
            state, index = stamp(f"{directory}/state.db"), stamp(f"{directory}/index/index.db")
            known = self._kept.pop(session, None)
            if known is None or (known.state, known.index) != (state, index):
                known = self._look(session, state, index)
            self._asked[session] = known
        return known

    def _look(self, session: str, state: Stamp, index: Stamp) -> Standing:
        directory = self._root.session_dir(session)
        cursors, copies = read_planned(directory)
        gap = covered(directory) < last_landed(directory)
        return Standing(state, index, cursors, copies, gap)

    def save(self) -> None:
        """Keep what was asked in this pass for the next one. It is worth an attempt, and no error."""
        old = time.time_ns() - SETTLED_NS
        kept = {
            session: standing
            for session, standing in self._asked.items()
            if not standing.gap and max(standing.state[1], standing.index[1]) < old
        }
        if kept == self._before:
            return
        with suppress(OSError, RootError):
            make_directory(self._path.parent)
            replace(self._path, _ENCODER.encode(_Kept(FORMAT, kept)), Step.MEMORY_SAVE)


def stamp(path: str) -> Stamp:
    """What a file looks like from outside."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0, 0)
    return (found.st_size, found.st_mtime_ns, found.st_ino)
