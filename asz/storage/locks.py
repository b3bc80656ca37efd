"""Locks between processes: one writer a session, one parser a chain. A lock dies with its process."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from asz.errors import BusyError, RootError
from asz.storage.files import create_private

if sys.platform == "win32":  # pragma: no cover - kept for portability, not run by the tests
    import msvcrt

    def _take(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock at ``path`` or fail at once; a pass never waits.

    The file stays behind: removing it would let two processes lock two different files.

    :raises BusyError: another process holds it.
    :raises RootError: the lock file cannot be opened.
    """
    try:
        fd = create_private(path)
    except OSError as error:
        raise RootError(f"{path}: cannot be locked: {error.strerror}") from error
    try:
        try:
            _take(fd)
        except (BlockingIOError, PermissionError) as error:
            raise BusyError(f"{path}: another process holds the lock") from error
        yield
    finally:
        with suppress(OSError):
            os.close(fd)
