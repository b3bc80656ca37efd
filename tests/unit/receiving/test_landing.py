"""Records that were pushed, landed like a custom source's."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from asz.collect.work import Limits
from asz.errors import AszError
from asz.receiving.landing import land, source_of
from asz.storage.index import load
from asz.storage.locks import hold
from asz.storage.root import Root
from asz.verify import verify
from asz_hookspecs import AdapterError, Busy, Converted, StorageFull
from asz_hookspecs.source import SourceKind

from ...support.plain import Place, Plain


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.adapter.complete = False  # as asz treats an adapter that discovers nothing
    return made


def push(
    place: Place,
    *lines: bytes,
    session: str = "s",
    stream: str = "main",
    kind: SourceKind = "transcript",
    src: str = "pushed/main",
    adapter: Any = None,
) -> list[str]:
    root = Root.open(place.root, write=True)
    source = source_of(stream, kind, src)
    return land(root, adapter or place.adapter, session, source, lines, Limits(max_delta_bytes=64))


def wrong(place: Place) -> list[str]:
    """What ``asz verify`` says of the landed files."""
    return [str(problem) for problem in verify(Root.open(place.root, write=False), "s")]


def test_records_follow_each_other_from_push_to_push(place: Place) -> None:
    assert push(place, b"one", b"two") == []
    assert push(place, b"three") == []
    assert place.raw() == [b"one", b"two", b"three"]
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4), (3, 8)]
    assert [r.run for r in place.records()] == ["1", "2", "3"]  # the carry went along
    header = place.files()[0].header
    assert (header.src, header.stream, header.runtime) == ("pushed/main", "main", "Plain")


def test_they_are_indexed_at_once(place: Place) -> None:
    push(place, b"one", b"two")
    assert len(load(place.root / "s").records) == 2


def test_a_pass_does_not_judge_them_gone(place: Place) -> None:
    push(place, b"one")
    made = place.collect()
    assert made.report.counts.gone == 0
    assert place.cursor("pushed/main").state == "active"
    assert made.clean


@pytest.mark.parametrize("again", [1, 2, 3])
def test_what_is_pushed_again_after_a_crash_lands_once(place: Place, again: int) -> None:
    push(place, b"one", b"two", b"three")
    (place.root / "s" / "state.db").unlink()
    lines = [b"one", b"two", b"three"]
    push(place, *lines[:again])
    push(place, b"four")
    assert place.raw() == [*lines, b"four"]
    assert [r.ord for r in place.records()] == [1, 2, 3, 4]
    assert wrong(place) == []


def test_what_is_not_pushed_again_after_a_crash_stays(place: Place) -> None:
    push(place, b"one", b"two")
    (place.root / "s" / "state.db").unlink()
    push(place, b"other", b"two")
    assert place.raw() == [b"one", b"two", b"other", b"two"]
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4), (3, 8), (4, 14)]
    assert wrong(place) == []


def test_two_sources_of_one_stream_keep_apart(place: Place) -> None:
    for turn in (b"1", b"2"):
        push(place, b"a" + turn, src="a")
        push(place, b"b" + turn, src="b")
    assert [(r.ord, raw) for r, raw in zip(place.records(), place.raw(), strict=True)] == [
        (1, b"a1"),
        (1, b"b1"),
        (2, b"a2"),
        (2, b"b2"),
    ]


def test_nothing_pushed_is_nothing_landed(place: Place) -> None:
    assert push(place) == []
    assert place.files() == []


@pytest.mark.parametrize(
    "names",
    [
        {"session": "../up"},
        {"session": "_metrics"},
        {"stream": "a/b"},
        {"stream": ""},
        {"src": "/etc/passwd"},
        {"src": "a/../b"},
        {"kind": "journal"},
        {"kind": "surprise"},
    ],
)
def test_names_are_not_trusted(place: Place, names: dict[str, Any]) -> None:
    with pytest.raises(AdapterError, match=r"refused|cannot be pushed"):
        push(place, b"one", **names)
    assert not place.root.exists()


def test_a_session_that_is_being_collected_is_busy(place: Place) -> None:
    push(place, b"one")
    with hold(place.root / "s" / ".lock"), pytest.raises(Busy, match="another process"):
        push(place, b"two")
    push(place, b"two")
    assert place.raw() == [b"one", b"two"]


def test_another_runtimes_session_is_refused(place: Place) -> None:
    push(place, b"one")
    other = Plain(place.source, "other", runtime="Other")
    with pytest.raises(AdapterError, match="belongs to Plain"):
        push(place, b"two", adapter=other)
    assert place.raw() == [b"one"]


def test_a_root_that_cannot_be_written_is_full(place: Place) -> None:
    Root.open(place.root, write=True).make()
    (place.root / "s").write_bytes(b"in the way")
    with pytest.raises(StorageFull, match="not a directory"):
        push(place, b"one")


def test_what_cannot_be_converted_lands_whole_and_is_told(place: Place) -> None:
    def convert(_source: object, records: Sequence[bytes], _carry: bytes) -> Converted:
        raise AszError(f"no idea of {len(records)}")

    place.adapter.convert = convert  # type: ignore[method-assign, assignment]
    assert push(place, b"one", b"two") == ["no idea of 1"]
    assert place.raw() == [b"one", b"two"]
