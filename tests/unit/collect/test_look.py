"""What one ``stat`` says of a source."""

import os
from pathlib import Path

from asz.collect.look import Look, identity, look
from asz.storage.cursors import SessionState

from ...support.plain import Place

MAIN = "s/main.jsonl"


def with_inode(path: Path, inode: int) -> os.stat_result:
    values = list(path.stat())
    values[1] = inode
    return os.stat_result(values)


def test_an_inode_of_64_bits_is_kept_and_known_again(place: Place) -> None:
    path = place.write(MAIN, b"one\n")
    place.collect()
    cursor = place.cursor()
    found = with_inode(path, (1 << 64) - 7)
    cursor.device, cursor.inode = identity(found)
    with SessionState.open(place.root / "s") as state:
        state.save([cursor])
    (source,) = place.adapter.discover(None, lambda _: frozenset()).sessions[0].sources
    assert look(source, place.cursor(), found) is Look.IDLE
    assert look(source, place.cursor(), with_inode(path, 7)) is Look.READ
