"""Write-once files: complete before visible, never over an existing name, private whatever the umask."""

import contextlib
import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asz.errors import FormatError, RootError
from asz.storage.steps import Step, step

TEMPORARY: Final = ".tmp-"
"""Start of the name of a file that is not complete; the holder of the lock removes leftovers."""

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_NO_LINKS: Final = frozenset(
    (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
)


@dataclass(frozen=True, slots=True)
class Pending:
    """A file that was written under its temporary name and waits to be installed."""

    directory: Path
    name: str
    temporary: Path
    """Where its bytes are now."""


def create_private(path: Path, flags: int = os.O_RDWR) -> int:
    """Open a file of ours, made when missing, mode 0600 whatever the umask; never through a link.

    :returns: the open descriptor.
    :raises OSError: it cannot be opened.
    """
    flags |= os.O_CREAT | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0)
    fd = os.open(path, flags, 0o600)
    if os.fstat(fd).st_mode & 0o777 != 0o600 and os.chmod in os.supports_fd:
        with contextlib.suppress(PermissionError):  # there already, and another user's
            os.chmod(fd, 0o600)
    return fd


def make_directory(path: Path) -> None:
    """A directory of ours: 0700, its own, not a link to somewhere else. Durable once its parent is
    synced.

    :raises RootError: something else has the name, or it cannot be made.
    """
    try:
        path.mkdir(mode=0o700)
        path.chmod(0o700)
    except FileExistsError:
        if path.is_symlink() or not path.is_dir():
            raise RootError(f"{path}: not a directory of the storage root; move it away") from None
    except OSError as error:
        raise RootError(f"{path}: cannot be made: {error.strerror}") from error


def write_pending(directory: Path, name: str, data: bytes, name_of_step: Step) -> Pending:
    """Write ``data`` under a temporary name in ``directory``, mode 0400; not yet durable.

    :raises OSError: nothing is left behind but the temporary file, which the next pass removes.
    """
    pending = Pending(directory, name, directory / (TEMPORARY + name))
    with step(name_of_step):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0)
        try:
            fd = os.open(pending.temporary, flags, 0o600)
        except FileExistsError:  # left by an interrupted writer
            pending.temporary.unlink()
            fd = os.open(pending.temporary, flags, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.chmod(fd if os.chmod in os.supports_fd else pending.temporary, 0o400)
        except OSError as error:
            error.filename = error.filename or str(pending.temporary)  # a descriptor has no name
            raise
        finally:
            os.close(fd)
    return pending


def install(pending: Iterable[Pending], name_of_step: Step) -> None:
    """Make files durable, then visible one by one in the order given, then their directories durable.

    :raises FileExistsError: a final name is taken; the files before it are installed.
    """
    group = list(pending)
    with step(Step.FILE_SYNC):
        for item in group:
            sync(item.temporary)
    for item in group:
        with step(name_of_step):
            _reveal(item)
    with step(Step.DIRECTORY_SYNC):
        for directory in dict.fromkeys(item.directory for item in group):
            sync(directory)


def _reveal(item: Pending) -> None:
    final = item.directory / item.name
    try:
        os.link(item.temporary, final, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if (
            final.exists() or final.is_symlink()
        ):  # no links here: the lock is what protects the name
            raise FileExistsError(errno.EEXIST, "exists", str(final)) from error
        item.temporary.rename(final)
    else:
        item.temporary.unlink()


def write_once(
    directory: Path, name: str, data: bytes, write_step: Step, install_step: Step
) -> None:
    """One file, durable and visible when this returns.

    :raises FileExistsError: the name is taken.
    """
    install([write_pending(directory, name, data, write_step)], install_step)


def replace(path: Path, data: bytes, name_of_step: Step) -> None:
    """Put a small cache file in place of the one before it, mode 0600."""
    with step(name_of_step):
        temporary = path.with_name(TEMPORARY + path.name)
        with open(create_private(temporary, os.O_WRONLY | os.O_TRUNC), "wb") as handle:
            handle.write(data)
        temporary.replace(path)


def sync(path: Path) -> None:
    """Flush a file or, where the system can, a directory to the disk."""
    if os.name == "nt" and path.is_dir():  # pragma: no cover - directories cannot be synced there
        return
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_whole(path: Path) -> bytes:
    """The bytes of one of our files.

    :raises FormatError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error


def read_first_line(path: Path) -> bytes:
    """The header line of one of our files, with its line end.

    :raises FormatError: it cannot be read.
    """
    try:
        with path.open("rb") as handle:
            return handle.readline()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from error


def remove_temporaries(directory: Path) -> None:
    """Remove what an interrupted writer left in one directory. Only the lock's holder may."""
    with contextlib.suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY):
                with contextlib.suppress(FileNotFoundError):
                    Path(entry.path).unlink()
