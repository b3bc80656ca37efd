"""Two files for one place."""

from ...support.plain import Place

FIRST, SECOND = "s/main.jsonl", "s@other/main.jsonl"


def test_the_longer_of_two_copies_is_read(place: Place) -> None:
    place.write(FIRST, b"one\n")
    place.write(SECOND, b"one\ntwo\n")
    for records in (2, 0):
        report = place.collect().report
        assert (report.counts.records, report.counts.sources) == (records, 2)
        assert report.counts.conflicts == 1
        assert f"{place.source}/{FIRST} and" in report.problems[0]
        assert "the first is not read" in report.problems[0]
    assert place.raw() == [b"one", b"two"]


def test_two_names_of_one_file_are_no_conflict(place: Place) -> None:
    path = place.write(FIRST, b"one\n")
    (place.source / "s@other").mkdir()
    (place.source / SECOND).hardlink_to(path)
    made = place.collect()
    assert made.clean
    assert place.raw() == [b"one"]
    assert f"{place.source}/{SECOND}: the same file as" in made.report.notes[0]


def test_of_two_that_differ_one_is_refused_by_name_in_every_pass(place: Place) -> None:
    place.write(FIRST, b"one\n")
    place.write(SECOND, b"two\n")
    for _ in range(2):
        made = place.collect()
        assert made.report.counts.conflicts == 1
        assert FIRST in made.report.problems[0]
        assert SECOND in made.report.problems[0]
        assert place.raw() == [b"one"]


def test_the_one_a_cursor_follows_stays(place: Place) -> None:
    place.write(SECOND, b"two\n")
    place.collect()
    place.write(FIRST, b"one\n")
    assert place.collect().report.counts.conflicts == 1
    place.append(SECOND, b"more\n")
    place.collect()
    assert place.raw() == [b"two", b"more"]


def test_a_longer_copy_takes_over_and_nothing_lands_twice(place: Place) -> None:
    place.write(FIRST, b"one\n")
    place.collect()
    place.write(SECOND, b"one\ntwo\n")
    assert place.collect().report.counts.records == 1
    assert place.raw() == [b"one", b"two"]
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4)]
