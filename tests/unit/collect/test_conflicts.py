"""Accepting a source in conflict as it is now."""

import pytest

from asz.collect.conflicts import conflicts, resolve
from asz.errors import BusyError, NotFoundError
from asz.storage.locks import hold
from asz.storage.root import Root

from ...support.plain import Place

MAIN = "s/main.jsonl"


def conflicted(place: Place) -> Root:
    place.write(MAIN, b"one\ntwo\n")
    place.collect()
    place.write(MAIN, b"ONE\nTWO\nTHREE\n")
    place.collect()
    return Root.open(place.root, write=False)


def test_a_resolved_source_lands_from_its_start_as_a_next_reading(place: Place) -> None:
    root = conflicted(place)
    assert [(c.session, c.src) for c in conflicts(root)] == [("s", MAIN)]
    resolve(root, MAIN)
    made = place.collect()
    assert made.clean
    assert made.report.counts.records == 3
    assert [file.header.gen for file in place.files()] == [None, 1]
    assert [(r.ord, r.off) for r in place.records()][2:] == [(1, 0), (2, 4), (3, 8)]
    assert conflicts(root) == []


@pytest.mark.parametrize("beside", [True, False], ids=["session found", "session not found"])
def test_a_source_in_conflict_is_named_when_its_file_has_gone(place: Place, beside: bool) -> None:
    if beside:
        place.write("s/other.jsonl", b"o\n")
    conflicted(place)
    (place.source / MAIN).unlink()
    for _ in range(3):
        report = place.collect().report
        assert (report.counts.conflicts, report.counts.gone) == (1, 0)
        assert MAIN in report.problems[0]
    assert place.cursor().state == "conflict"


def test_the_path_names_a_source_too(place: Place) -> None:
    root = conflicted(place)
    assert resolve(root, str(place.source / MAIN)).src == MAIN


def test_what_is_not_in_conflict_is_not_resolved(place: Place) -> None:
    root = conflicted(place)
    with pytest.raises(NotFoundError, match="--conflicts"):
        resolve(root, "s/other.jsonl")


def test_a_refused_copy_says_what_to_do(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.write("s@other/main.jsonl", b"two\n")
    place.collect()
    root = Root.open(place.root, write=False)
    assert [c.src for c in conflicts(root)] == ["s@other/main.jsonl"]
    with pytest.raises(NotFoundError, match="remove or move away"):
        resolve(root, "s@other/main.jsonl")


def test_a_session_a_collector_has_is_busy(place: Place) -> None:
    root = conflicted(place)
    with hold(place.root / "s" / ".lock"), pytest.raises(BusyError):
        resolve(root, MAIN)


def test_a_busy_session_is_left_to_a_later_pass(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.write("t/main.jsonl", b"other\n")
    place.collect()
    place.append(MAIN, b"two\n")
    place.append("t/main.jsonl", b"more\n")
    with hold(place.root / "s" / ".lock"):
        made = place.collect()
        assert (made.report.counts.busy, made.report.counts.records) == (1, 1)
        assert not made.clean
    assert place.collect().report.counts.records == 1
