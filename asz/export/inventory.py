"""What there is to send, in the order in which it is sent: session by session, its landed files and then
its rounds; after all of them the metrics spool."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from asz.flow.chain import round_names
from asz.metrics.spool import Spool
from asz.storage.landed import landed_names
from asz.storage.root import Root

Format = Literal["sd", "sf", "metrics"]


@dataclass(frozen=True, slots=True)
class Item:
    """One file to send. Nothing of it was read."""

    path: str
    """Below the root, forward slashes."""
    format: Format
    session: str
    """Empty for a file of the spool."""
    size: int
    mtime_ns: int


def files(root: Root) -> Iterator[Item]:
    """Every landed file and every round."""
    for name in sorted({*root.sessions(), *root.conversations()}):
        rounds = round_names(root.conversation_dir(name))  # first: what they are over has landed
        for landed in landed_names(root.session_dir(name)):
            yield from _item(root, f"{name}/{landed.path}", "sd", name)
        for each in rounds:
            path = each.path.relative_to(root.path).as_posix()
            yield from _item(root, path, "sf", name)


def spooled(root: Root) -> Iterator[Item]:
    """Every request of the spool."""
    for entry in Spool(root).entries():
        yield from _item(root, entry.src, "metrics", "")


def _item(root: Root, path: str, format_: Format, session: str) -> Iterator[Item]:
    """The item, unless the file went away."""
    try:
        found = (root.path / path).stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    yield Item(path, format_, session, found.st_size, found.st_mtime_ns)


def sha256(data: bytes) -> str:
    """The digest a file is known by."""
    return hashlib.sha256(data).hexdigest()
