"""Reading sources: regular files below their root, by whole lines, plain or compressed."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, Final, cast

from asz.storage.cursors import TAIL_BYTES
from asz_hookspecs import Source

BLOCK: Final = 1 << 20


class UnreadableError(Exception):
    """A source cannot be read now: one line naming it and why."""


class VanishedError(Exception):
    """A source is not there any more."""


def location(source: Source) -> str:
    """Path of a source's file as text, forward slashes below its root; empty for a custom source."""
    return f"{source.root}/{source.src}" if source.root else ""


class SourceFile:
    """A source's content. What goes wrong in reading it is the source's, never the storage root's."""

    def __init__(self, path: str, raw: BinaryIO, compression: str) -> None:
        self._path = path
        self._handle: BinaryIO = raw
        self._failures: tuple[type[Exception], ...] = (OSError,)
        if compression == "zstd":
            import zstandard  # only where a runtime compresses its files

            reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
            self._handle = cast("BinaryIO", reader)
            self._failures = (OSError, zstandard.ZstdError)

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; none at the end.

        :raises UnreadableError: the disk fails, or the compressed content is damaged.
        """
        with self._named():
            return self._handle.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> None:
        """Move; a compressed file is read up to there.

        :raises UnreadableError: as in ``read``.
        """
        with self._named():
            self._handle.seek(offset, whence)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except self._failures as error:
            reason = getattr(error, "strerror", None) or error
            raise UnreadableError(f"{self._path}: cannot be read: {reason}") from error


def _inside(path: str, root: str) -> bool:
    """Whether a path leads to somewhere below ``root``, whatever links it goes through."""
    real = _real_directory(os.path.dirname(path))  # noqa: PTH120 - asked for every source
    if os.path.islink(path):  # noqa: PTH114 - likewise
        real = os.path.realpath(path)
    top = _real_directory(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


@lru_cache(maxsize=8192)
def _real_directory(path: str) -> str:
    """A directory without links. Hundreds of sources share one, and a look takes ten system calls."""
    return os.path.realpath(path)


def forget_directories() -> None:
    """Look at every directory anew: somebody may have put a link in its place."""
    _real_directory.cache_clear()


@contextmanager
def opened(source: Source) -> Iterator[tuple[SourceFile, os.stat_result]]:
    """A source's file, open for reading, and what it is.

    Links may lead anywhere inside the root and nowhere else; a FIFO is not waited for.

    :raises VanishedError: nothing has that name now.
    :raises UnreadableError: not a regular file, outside the root, or not to be read.
    """
    path = location(source)
    try:
        if not _inside(path, source.root):
            raise UnreadableError(f"{path}: leads out of {source.root}; not read")
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise VanishedError(str(path)) from error
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror}") from error
    with open(fd, "rb", buffering=0) as raw:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError(f"{path}: not a regular file; move it away")
        yield SourceFile(path, raw, source.compression), found


def skip_to(handle: SourceFile, offset: int) -> bytes:
    """Move to ``offset`` of the content; the up to 1 MiB before it, for its digest."""
    start = max(0, offset - TAIL_BYTES)
    handle.seek(start)
    return read_exactly(handle, offset - start)


def read_exactly(handle: SourceFile, size: int) -> bytes:
    """``size`` bytes, fewer only at the end of the file."""
    pieces = []
    while size > 0:
        piece = handle.read(min(size, 8 * BLOCK))
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def tail_digest(tail: bytes) -> str:
    """Digest of the bytes before an offset, by which the file is recognised."""
    return hashlib.sha256(tail).hexdigest()


@dataclass(slots=True)
class Window:
    """Whole lines of a source. ``data`` is their bytes, newlines included."""

    data: bytes

    def lines(self) -> list[bytes]:
        """Each line without its newline."""
        lines = self.data.split(b"\n")
        lines.pop()  # behind the last newline is nothing
        return lines


class LineReader:
    """Cuts what follows an offset into windows of whole lines.

    A window ends at the last newline within ``window_bytes``; a line longer than that is read to its
    end. A last line without a newline is still being written, and stays unread.
    """

    def __init__(self, handle: SourceFile, offset: int, tail: bytes, window_bytes: int) -> None:
        self.offset = offset
        self._handle = handle
        self._tail = tail
        self._window_bytes = window_bytes
        self._rest = b""

    def next(self) -> Window | None:
        """The next window; ``None`` when no further whole line is there."""
        pieces = [self._rest] if self._rest else []
        cut = self._rest.rfind(b"\n")
        size = len(self._rest)
        while size < self._window_bytes or cut < 0:
            piece = self._handle.read(self._window_bytes)
            if not piece:
                break
            found = piece.rfind(b"\n")
            if found >= 0:
                cut = size + found
            pieces.append(piece)
            size += len(piece)
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if cut < 0:
            self._rest = data
            return None
        self._rest = data[cut + 1 :]
        data = data[: cut + 1]
        self.offset += len(data)
        self._tail = (
            data[-TAIL_BYTES:] if len(data) >= TAIL_BYTES else (self._tail + data)[-TAIL_BYTES:]
        )
        return Window(data)

    def digest(self) -> str:
        """Digest of the 1 MiB before the offset reached."""
        return tail_digest(self._tail)

    @property
    def unread(self) -> int:
        """Bytes read ahead that are no whole line yet."""
        return len(self._rest)
