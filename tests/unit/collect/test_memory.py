"""What a pass remembers of sessions is believed only while their files look as they did."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from asz.collect import memory
from asz.storage import database
from asz.storage.root import CACHE

from ...support.plain import Place

MAIN = "s/main.jsonl"


@pytest.fixture
def quiet(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose sessions have been left alone for long enough to be remembered."""
    monkeypatch.setattr(memory, "SETTLED_NS", 0)
    place.write(MAIN, b"one\n")
    os.utime(place.write("s/child.json", b"{}"), (1, 1))  # else it is read again for a while
    place.write("t/main.jsonl", b"two\n")
    place.write("t@copy/main.jsonl", b"two\n")
    place.collect()
    place.collect()
    return place


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every database that is opened."""
    paths: list[Path] = []
    connect = database._connect

    def note(path: Path, mode: str) -> sqlite3.Connection:
        paths.append(path)
        return connect(path, mode)

    monkeypatch.setattr(database, "_connect", note)
    return paths


def test_a_pass_with_nothing_new_opens_no_database(quiet: Place, opened: list[Path]) -> None:
    made = quiet.collect()
    assert opened == []
    counts = made.report.counts
    assert (counts.sessions, counts.sources, counts.copies) == (2, 4, 1)
    assert "a copy of" in made.report.notes[0]


def test_only_the_session_that_changed_is_opened(quiet: Place, opened: list[Path]) -> None:
    quiet.append("t/main.jsonl", b"more\n")
    assert quiet.collect().report.counts.records == 1
    assert {path.relative_to(quiet.root).parts[0] for path in opened} == {"t"}


@pytest.mark.parametrize("damage", [b"", b"\xff" * 50, b"\x92\x01\x80", b"\x92\x09\x80"])
def test_a_damaged_memory_is_made_again(quiet: Place, damage: bytes) -> None:
    path = quiet.root / CACHE / memory.FILE
    whole = path.read_bytes()
    path.write_bytes(damage)
    assert quiet.collect().clean
    assert path.read_bytes() == whole


def test_cursors_that_were_changed_elsewhere_are_read_again(quiet: Place) -> None:
    with closing(sqlite3.connect(quiet.root / "s" / "state.db")) as connection:
        connection.execute("DELETE FROM cursor WHERE kind='transcript'")
        connection.commit()
    quiet.append(MAIN, b"two\n")
    assert quiet.collect().report.counts.records == 1
    assert [record.ord for record in quiet.records() if record.run and record.size < 10][-1] == 2


def test_an_index_that_was_deleted_is_made_again(quiet: Place) -> None:
    shutil.rmtree(quiet.root / "s" / "index")
    quiet.collect()
    assert (quiet.root / "s" / "index" / "index.db").exists()


def test_a_source_is_found_gone_from_memory_alone(quiet: Place, opened: list[Path]) -> None:
    (quiet.source / MAIN).unlink()
    assert quiet.collect().report.counts.gone == 1
    opened.clear()
    assert quiet.collect().report.counts.gone == 0


def test_a_session_that_was_purged_is_collected_again(quiet: Place) -> None:
    shutil.rmtree(quiet.root / "s")
    assert quiet.collect().report.counts.records == 2


def test_a_copied_root_believes_nothing_of_its_memory(quiet: Place, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(quiet.root, copy)
    (copy / "s" / "state.db").unlink()
    os.utime(copy / CACHE / memory.FILE)
    quiet.root = copy
    assert quiet.collect().report.counts.landed == 0
    assert quiet.cursor().ord == 1
