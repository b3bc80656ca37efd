"""A damaged state or index, or one that cannot be opened, costs its own session and nothing that landed."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from asz.collect.passes import Pass
from asz.storage import index
from asz.storage.cursors import read_cursors
from asz.storage.root import Root
from asz.verify import verify

from ...support.plain import Place

STATE = "state.db"
INDEX = "index/index.db"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Two sessions that have landed, and a line more in each."""
    made = Place(tmp_path)
    for session in ("s", "t"):
        made.write(f"{session}/main.jsonl", b"one\ntwo\n")
    assert made.collect().clean
    for session in ("s", "t"):
        made.append(f"{session}/main.jsonl", b"three\n")
    return made


def script(text: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(text)
        connection.close()

    return run


def other_columns(path: Path) -> None:
    path.unlink()
    script(
        "CREATE TABLE cursor(a,b);INSERT INTO cursor VALUES(1,2);"
        "CREATE TABLE file(seq,b);INSERT INTO file VALUES(1,2);PRAGMA user_version=1;"
    )(path)


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def assert_whole(place: Place, made: Pass, errors: int) -> None:
    assert made.report.counts.errors == errors
    for session in ("s", "t"):
        assert place.raw(session) == [b"one", b"two", b"three"]
        assert index.covered(place.root / session) == 2
    assert list(verify(Root.open(place.root, write=False))) == []
    assert place.collect().report.counts.landed == 0


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        (STATE, garbage),
        (STATE, other_columns),
        (STATE, script("UPDATE cursor SET offset='x', ord=NULL, path=5;")),
        (INDEX, garbage),
        (INDEX, other_columns),
        (INDEX, script("UPDATE file SET seq='x';")),
    ],
)
def test_what_is_damaged_is_named_and_made_again(
    place: Place, name: str, damage: Callable[[Path], None]
) -> None:
    damage(place.root / "s" / name)
    made = place.collect()
    (problem,) = made.report.problems
    assert f"s/{name}: damaged; made again" in problem
    assert_whole(place, made, errors=1)


@pytest.mark.parametrize("damage", [garbage, other_columns])
def test_a_damaged_store_is_none_to_a_reader(place: Place, damage: Callable[[Path], None]) -> None:
    kept = index.load(place.root / "s")
    damage(place.root / "s" / STATE)
    damage(place.root / "s" / INDEX)
    assert read_cursors(place.root / "s") == {}
    assert index.covered(place.root / "s") == 0
    assert index.load(place.root / "s") == kept


@pytest.mark.parametrize("name", [STATE, INDEX])
def test_one_that_cannot_be_opened_is_kept_and_the_other_sessions_go_on(
    place: Place, name: str
) -> None:
    path = place.root / "s" / name
    aside = path.rename(path.with_name("aside"))
    path.mkdir()
    made = place.collect()
    (problem,) = made.report.problems
    assert problem.startswith(f"s: {path}: ")
    assert place.raw("t") == [b"one", b"two", b"three"]
    assert path.is_dir()
    path.rmdir()
    aside.rename(path)
    assert_whole(place, place.collect(), errors=0)


def test_a_landed_file_that_was_put_back_is_indexed(place: Place, tmp_path: Path) -> None:
    place.collect()
    session = place.root / "s"
    kept = index.load(session)
    first = session / kept.files[1].name
    aside = first.rename(tmp_path / "aside")
    shutil.rmtree(session / "index")
    assert index.update(session) == 1
    aside.rename(first)
    assert index.update(session) == 1
    assert index.load(session) == kept


def test_a_session_that_cannot_be_looked_at_is_one_problem_of_verification(place: Place) -> None:
    streams = place.root / "s" / "streams"
    shutil.rmtree(streams)
    streams.symlink_to(streams)
    (problem,) = verify(Root.open(place.root, write=False))
    assert str(streams) in str(problem)


def test_a_time_after_2262_is_a_time_like_any_other(place: Place) -> None:
    later = 15_032_385_535  # 2446, the last an ext4 file system can say
    path = place.write("s/child.json", b"{}")
    os.utime(path, (later, later))
    made = place.collect()
    assert made.clean
    assert len(place.records("s")) == 4
