"""Rolling forward: what landed never lands again, whatever became of the cursors."""

import shutil
from pathlib import Path

import pytest

from asz.storage.root import Root

from ...support.plain import Place

MAIN = "s/main.jsonl"


def forget(place: Place) -> None:
    (place.root / "s" / "state.db").unlink()


def test_a_lost_store_is_made_again_from_what_landed(place: Place) -> None:
    place.write(MAIN, b"one\ntwo\n")
    place.write("s/child.json", b"{}")
    place.collect()
    before = place.cursor()
    forget(place)
    assert place.collect().report.counts.landed == 0
    after = place.cursor()
    for name in ("ord", "offset", "digest", "carry", "last_seq", "gen", "inode"):
        assert getattr(after, name) == getattr(before, name), name
    place.append(MAIN, b"three\n")
    place.collect()
    assert [r.run for r in place.records() if r.run and r.size > 2] == ["1", "2", "3"]


def test_a_store_from_before_the_last_files_is_rolled_forward(place: Place, tmp_path: Path) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    shutil.copy(place.root / "s" / "state.db", tmp_path / "old")
    place.append(MAIN, b"two\n")
    place.collect()
    shutil.copy(tmp_path / "old", place.root / "s" / "state.db")
    assert place.collect().report.counts.landed == 0
    place.append(MAIN, b"three\n")
    place.collect()
    assert place.raw() == [b"one", b"two", b"three"]
    assert [r.run for r in place.records()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "damage", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_damaged_store_is_named_and_made_again(place: Place, damage: bytes) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    (place.root / "s" / "state.db").write_bytes(damage)
    made = place.collect()
    assert made.report.counts.landed == 0
    if damage:
        assert "state.db: damaged" in made.report.problems[0]
    assert place.collect().clean
    assert place.raw() == [b"one"]


def test_a_file_that_changed_while_the_store_was_lost_lands_as_a_next_reading(place: Place) -> None:
    place.write(MAIN, b"one\ntwo\n")
    place.collect()
    forget(place)
    place.write(MAIN, b"ONE\nTWO\n")
    place.collect()
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4)] * 2
    assert [file.header.gen for file in place.files()] == [None, 1]


def test_a_lost_index_is_built_again_and_lands_nothing(place: Place) -> None:
    from asz.storage.index import load

    place.write(MAIN, b"one\ntwo\n")
    place.collect()
    before = load(place.root / "s")
    shutil.rmtree(place.root / "s" / "index")
    assert place.collect().report.counts.landed == 0
    assert load(place.root / "s") == before
    assert (place.root / "s" / "index" / "index.db").exists()


def test_a_damaged_index_is_named_and_built_again(place: Place) -> None:
    from asz.storage.index import load

    place.write(MAIN, b"one\ntwo\n")
    place.collect()
    before = load(place.root / "s")
    path = place.root / "s" / "index" / "index.db"
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * 4096)
    made = place.collect()
    assert "index.db: damaged" in made.report.problems[0]
    assert load(place.root / "s") == before


def test_a_damaged_landed_file_is_named_and_costs_only_the_index(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    shutil.rmtree(place.root / "s" / "index")
    path = next((place.root / "s" / "streams").rglob("*.sd"))
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    place.append(MAIN, b"more\n")
    place.write("t/main.jsonl", b"other\n")
    made = place.collect()
    assert f"{path}: digest does not match" in made.report.problems[0]
    assert made.report.counts.records == 2
    assert place.raw("t") == [b"other"]


def test_the_number_of_a_file_somebody_removed_is_not_given_again(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    place.append(MAIN, b"two\n")
    place.collect()
    place.files()[1].path.unlink()
    place.append(MAIN, b"three\n")
    assert place.collect().clean
    assert [file.header.seq for file in place.files()] == [1, 3]


@pytest.mark.parametrize("name", ["streams", "state.db", "index", "index/index.db"])
def test_nothing_is_written_through_a_link(place: Place, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    if name.endswith(".db"):
        outside.touch()
    else:
        outside.mkdir()
        (outside / ".tmp-left").mkdir()
    link = place.root / "s" / name
    Root.open(place.root, write=True).make()
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    place.write(MAIN, b"one\n")
    made = place.collect()
    assert (made.report.counts.errors, made.report.counts.landed) == (1, 0)
    assert name in made.report.problems[0]
    if name.endswith(".db"):
        assert outside.read_bytes() == b""
    else:
        assert [path.name for path in outside.iterdir()] == [".tmp-left"]


def test_leftovers_of_a_killed_writer_are_removed(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    leftover = place.root / "s" / "streams" / "main" / ".tmp-transcript-x"
    leftover.write_bytes(b"half")
    place.append(MAIN, b"two\n")
    place.collect()
    assert not leftover.exists()


def test_a_landed_file_copied_in_by_hand_is_indexed_by_the_next_pass(
    place: Place, tmp_path: Path
) -> None:
    from asz.storage.index import covered

    place.write(MAIN, b"one\n")
    place.collect()
    place.append(MAIN, b"two\n")
    copy = tmp_path / "copy"
    shutil.copytree(place.root, copy)
    place.collect()
    for path in (place.root / "s" / "streams").rglob("*2.sd"):
        shutil.copy(path, copy / path.relative_to(place.root))
    place.root = copy
    (place.source / MAIN).unlink()
    place.write("s/other.jsonl", b"")
    assert covered(copy / "s") == 1
    place.collect()
    assert covered(copy / "s") == 2
