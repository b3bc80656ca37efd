"""Several files for one place: copies are not read, and of files that differ each is a reading."""

import json

import pytest

from ...support.plain import Place, Plain

FIRST, SECOND, THIRD = "s/main.jsonl", "s@other/main.jsonl", "s@third/main.jsonl"


def test_the_longer_of_two_copies_is_read_and_nothing_is_wrong(place: Place) -> None:
    place.write(FIRST, b"one\n")
    place.write(SECOND, b"one\ntwo\n")
    for records in (2, 0, 0):
        made = place.collect()
        counts = made.report.counts
        assert (counts.records, counts.sources, counts.copies) == (records, 2, 1)
        assert made.clean
        assert f"{place.source}/{FIRST}" in made.report.notes[0]
    assert place.raw() == [b"one", b"two"]


def test_two_names_of_one_file_are_a_copy(place: Place) -> None:
    path = place.write(FIRST, b"one\n")
    (place.source / "s@other").mkdir()
    (place.source / SECOND).hardlink_to(path)
    made = place.collect()
    assert made.clean
    assert place.raw() == [b"one"]
    assert f"{place.source}/{SECOND}: a copy" in made.report.notes[0]


@pytest.mark.parametrize("turned", [False, True])
def test_two_that_differ_are_both_kept_and_named_once(place: Place, turned: bool) -> None:
    first, second = (SECOND, FIRST) if turned else (FIRST, SECOND)
    place.write(first, b"one\nhome\n")
    place.write(second, b"one\nwork\n")
    made = place.collect()
    assert made.report.counts.conflicts == 1
    assert FIRST in made.report.problems[0]
    assert SECOND in made.report.problems[0]
    assert sorted(place.raw()) == [b"home", b"one", b"one", b"work"]
    assert [file.header.gen for file in place.files()] == [None, 1]
    assert place.collect().clean
    place.append(first, b"more home\n")
    place.append(second, b"more work\n")
    assert place.collect().clean
    assert place.raw()[4:] in ([b"more home", b"more work"], [b"more work", b"more home"])
    assert [file.header.gen for file in place.files()] == [None, 1, None, 1]
    assert [(r.ord, r.off) for r in place.records()][4:] == [(3, 9), (3, 9)]


def test_two_that_differ_go_on_when_the_store_was_lost(place: Place) -> None:
    place.write(FIRST, b"one\nhome\n")
    place.write(SECOND, b"one\nwork\n")
    place.collect()
    (place.root / "s" / "state.db").unlink()
    place.append(SECOND, b"more\n")
    assert place.collect().report.counts.records == 1
    assert [file.header.gen for file in place.files()] == [None, 1, 1]


def test_one_of_two_that_differ_may_go(place: Place) -> None:
    first = place.write(FIRST, b"one\nhome\n")
    place.write(SECOND, b"one\nwork\n")
    place.collect()
    first.unlink()
    made = place.collect()
    assert (made.report.counts.gone, made.report.counts.conflicts) == (1, 0)
    place.append(SECOND, b"more\n")
    assert place.collect().clean
    assert place.raw() == [b"one", b"home", b"one", b"work", b"more"]


def test_a_third_file_is_compared_with_each(place: Place) -> None:
    place.write(FIRST, b"one\nhome\n")
    place.write(SECOND, b"one\nwork\n")
    place.collect()
    place.write(THIRD, b"one\nwork\n")
    made = place.collect()
    assert made.clean
    assert made.report.counts.copies == 1
    assert len(place.raw()) == 4


def test_the_one_a_cursor_follows_stays_the_first(place: Place) -> None:
    place.write(SECOND, b"two\n")
    place.collect()
    place.write(FIRST, b"one\n")
    assert place.collect().report.counts.conflicts == 1
    place.append(SECOND, b"more\n")
    place.collect()
    assert place.raw() == [b"two", b"one", b"more"]
    assert [file.header.gen for file in place.files()] == [None, 1, None]


def test_a_longer_copy_takes_over_and_nothing_lands_twice(place: Place) -> None:
    place.write(FIRST, b"one\n")
    place.collect()
    place.write(SECOND, b"one\ntwo\n")
    assert place.collect().report.counts.records == 1
    assert place.raw() == [b"one", b"two"]
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4)]


def test_one_name_under_two_roots_is_two_readings(place: Place, tmp_path) -> None:  # type: ignore[no-untyped-def]
    other = Plain(tmp_path / "elsewhere", label="work")
    place.adapters.append(other)
    place.write(FIRST, b"one\nhome\n")
    (tmp_path / "elsewhere" / "s").mkdir(parents=True)
    (tmp_path / "elsewhere" / FIRST).write_bytes(b"one\nwork\n")
    assert place.collect().report.counts.conflicts == 1
    assert [(f.header.src, f.header.gen) for f in place.files()] == [(FIRST, None), (FIRST, 1)]
    assert place.collect().clean
    assert [json.loads(bytes(r.parts[0].data)) for r in place.records()] == [
        "one", "home", "one", "work",
    ]  # fmt: skip
