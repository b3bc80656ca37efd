"""The index says what the landed files say, whether it was kept or built again."""

import shutil
from pathlib import Path

from asz.storage import index

from ...support.plain import Place


def collected(tmp_path: Path) -> Path:
    place = Place(tmp_path)
    place.write("s/main.jsonl", b"one\ntwo\n")
    place.collect()
    place.append("s/main.jsonl", b"three\n")
    place.write("s/child.jsonl", b"c\n")
    place.collect()
    return place.root / "s"


def test_rows_kept_while_landing_are_those_read_back(tmp_path: Path) -> None:
    session = collected(tmp_path)
    kept = index.load(session)
    shutil.rmtree(session / "index")
    assert index.covered(session) == 0
    in_memory = index.load(session)
    assert index.update(session) == 3
    assert index.load(session) == in_memory == kept
    assert [(r.seq, r.row, r.ord) for r in kept.records if r.run] == [
        (1, 1, 1), (1, 2, 2), (2, 1, 3), (3, 1, 1),
    ]  # fmt: skip


def test_nothing_beyond_a_watermark_is_read(tmp_path: Path) -> None:
    session = collected(tmp_path)
    rows = index.load(session, through_seq=2)
    assert (rows.through_seq, set(rows.files)) == (2, {1, 2})
    assert {record.seq for record in rows.records} == {1, 2}


def test_another_schema_is_built_again_without_a_word(tmp_path: Path) -> None:
    import sqlite3

    session = collected(tmp_path)
    kept = index.load(session)
    with sqlite3.connect(session / "index" / "index.db") as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    assert index.covered(session) == 0
    with index.Index.open(session) as opened:
        assert not opened.rebuilt
    index.update(session)
    assert index.load(session) == kept


def test_the_index_holds_no_text(tmp_path: Path) -> None:
    session = collected(tmp_path)
    assert b"three" not in (session / "index" / "index.db").read_bytes()
