"""Sources that were rewritten: they land again by themselves, unless something does it all the time."""

from pathlib import Path

import pytest

from asz.collect.conflicts import MOST_A_DAY, conflicts, resolve
from asz.errors import BusyError, NotFoundError
from asz.storage.locks import hold
from asz.storage.root import Root

from ...support.plain import Place

MAIN = "s/main.jsonl"


FIRST = b"what it was at first"


def rewrite(place: Place, times: int) -> Root:
    place.write(MAIN, FIRST + b"\n")
    place.collect()
    for number in range(1, times + 1):
        place.write(MAIN, FIRST[number:] + b"\n")
        place.collect()
    return Root.open(place.root, write=False)


def test_a_source_may_be_rewritten_several_times(place: Place) -> None:
    root = rewrite(place, MOST_A_DAY)
    assert place.raw() == [FIRST[number:] for number in range(MOST_A_DAY + 1)]
    assert [file.header.gen for file in place.files()] == [None, *range(1, MOST_A_DAY + 1)]
    assert [found.reading for found in conflicts(root)] == list(range(2, MOST_A_DAY + 2))
    assert place.collect().clean


def test_what_is_rewritten_all_the_time_is_left_and_named_in_every_pass(place: Place) -> None:
    root = rewrite(place, MOST_A_DAY + 1)
    for _ in range(2):
        place.append(MAIN, b"more\n")
        made = place.collect()
        assert made.report.counts.conflicts == 1
        assert f"rewritten more than {MOST_A_DAY} times" in made.report.problems[0]
    assert len(place.raw()) == MOST_A_DAY + 1
    assert conflicts(root)[-1].reading is None


@pytest.mark.parametrize("name", [MAIN, "all"])
def test_a_resolved_source_lands_from_its_start_as_a_next_reading(place: Place, name: str) -> None:
    root = rewrite(place, MOST_A_DAY + 1)
    assert [cursor.src for cursor in resolve(root, name)] == [MAIN]
    made = place.collect()
    assert made.clean
    assert made.report.counts.records == 1
    assert place.files()[-1].header.gen == MOST_A_DAY + 1
    assert all(found.reading for found in conflicts(root))


@pytest.mark.parametrize("beside", [True, False], ids=["session found", "session not found"])
def test_a_conflict_ends_when_its_file_has_gone(place: Place, beside: bool) -> None:
    if beside:
        place.write("s/other.jsonl", b"o\n")
    rewrite(place, MOST_A_DAY + 1)
    (place.source / MAIN).unlink()
    report = place.collect().report
    assert (report.counts.conflicts, report.counts.gone) == (0, 1)
    assert place.cursor().state == "source_gone"
    assert place.collect().clean


def test_the_path_names_a_source_too(place: Place) -> None:
    root = rewrite(place, MOST_A_DAY + 1)
    assert resolve(root, str(place.source / MAIN))[0].src == MAIN


def test_what_is_not_in_conflict_is_not_resolved(place: Place) -> None:
    root = rewrite(place, 1)
    with pytest.raises(NotFoundError, match="--conflicts"):
        resolve(root, MAIN)
    assert resolve(root, "all") == []


def test_a_session_a_collector_has_is_busy(place: Place) -> None:
    root = rewrite(place, MOST_A_DAY + 1)
    with hold(place.root / "s" / ".lock"), pytest.raises(BusyError):
        resolve(root, MAIN)


def test_a_crash_between_landing_again_and_saving_lands_nothing_twice(
    place: Place, tmp_path: Path
) -> None:
    rewrite(place, 0)
    before = (place.root / "s" / "state.db").read_bytes()
    place.write(MAIN, b"new\n")
    place.collect()
    (place.root / "s" / "state.db").write_bytes(before)
    assert place.collect().report.counts.records == 0
    assert place.raw() == [FIRST, b"new"]
    place.append(MAIN, b"more\n")
    place.collect()
    assert [(f.header.gen, len(f.lines)) for f in place.files()] == [(None, 1), (1, 1), (1, 1)]


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
