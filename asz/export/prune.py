"""Removing what of the spool was sent."""

from contextlib import closing
from dataclasses import dataclass

from asz.export.inventory import Item, sha256, spooled
from asz.export.state import LOCK, Sent, SentState, export_dir
from asz.metrics.spool import Spool
from asz.storage.locks import hold
from asz.storage.root import Root


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, and what stays because this receiver has not taken it."""

    removed: int = 0
    bytes: int = 0
    kept: int = 0


def prune(root: Root, receiver: str) -> Pruned:
    """Remove the requests of the spool that a receiver took. What was sent stays known.

    :raises BusyError: something is being sent.
    :raises OSError: a file cannot be removed; those before it are.
    """
    spool = Spool(root)
    removed = size = kept = 0
    with hold(export_dir(root) / LOCK), closing(SentState.open(root, receiver)) as state:
        known = state.known()
        items = {item.path: item for item in spooled(root)}
        for entry in spool.entries():
            item = items.get(entry.src)
            if item is None or not _was_sent(root, item, known.get(entry.src, [])):
                kept += 1
                continue
            spool.remove(entry)
            removed += 1
            size += item.size
    return Pruned(removed, size, kept)


def _was_sent(root: Root, item: Item, before: list[Sent]) -> bool:
    sent = [each for each in before if each.outcome == "sent"]
    if any(each.is_of(item) for each in sent):
        return True
    digests = {each.digest for each in sent}
    return bool(digests) and sha256((root.path / item.path).read_bytes()) in digests
