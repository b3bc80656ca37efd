"""Append-only files: what is read, when, and when it is refused."""

import os
import shutil
from pathlib import Path

import pytest

from asz.collect.work import Limits

from ...support.plain import Place

MAIN = "s/main.jsonl"


def test_every_whole_line_lands_once(place: Place) -> None:
    place.write(MAIN, b"one\ntwo\n")
    assert place.collect().report.counts.records == 2
    assert place.raw() == [b"one", b"two"]
    second = place.collect()
    assert (second.report.counts.landed, second.report.counts.sources) == (0, 1)
    assert place.adapter.converted == []


def test_positions_and_digests_are_of_the_source(place: Place) -> None:
    place.write(MAIN, b"one\n\nthree\r\n")
    place.collect()
    assert [(r.ord, r.off, r.size) for r in place.records()] == [(1, 0, 3), (2, 4, 0), (3, 5, 6)]


def test_a_line_without_its_newline_waits(place: Place) -> None:
    place.write(MAIN, b"one\ntw")
    assert place.collect().report.counts.records == 1
    assert place.collect().report.counts.records == 0
    place.append(MAIN, b"o\n")
    assert place.collect().report.counts.records == 1
    assert place.raw() == [b"one", b"two"]
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4)]


def test_growth_lands_only_what_grew_and_carries_state_on(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    place.append(MAIN, b"two\nthree\n")
    place.collect()
    assert place.adapter.converted == [(MAIN, 2, b"1")]
    assert [r.run for r in place.records()] == ["1", "2", "3"]


def test_a_line_longer_than_the_window_lands_whole(place: Place) -> None:
    place.limits = Limits(max_delta_bytes=64)
    long = b"x" * 1000
    place.write(MAIN, b"short\n" + long + b"\nend\n")
    place.collect()
    assert place.raw() == [b"short", long, b"end"]


def test_files_are_cut_at_record_boundaries(place: Place) -> None:
    place.limits = Limits(max_delta_bytes=600)
    place.write(MAIN, b"".join(b"%03d\n" % n for n in range(40)))
    place.collect()
    sizes = [file.path.stat().st_size for file in place.files()]
    assert len(sizes) > 3
    assert max(sizes) <= 600
    assert [file.header.seq for file in place.files()] == list(range(1, len(sizes) + 1))
    assert [r.ord for r in place.records()] == list(range(1, 41))


def test_a_watching_pass_leaves_the_rest_pending(place: Place) -> None:
    place.limits = Limits(max_delta_bytes=10, windows_a_source=2)
    place.write(MAIN, b"123456789\n" * 5)
    first = place.collect()
    assert (first.report.counts.records, first.report.counts.pending) == (2, 1)
    assert not first.clean
    place.collect()
    last = place.collect()
    assert (last.report.counts.records, last.report.counts.pending) == (1, 0)
    assert len(place.raw()) == 5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.write_bytes(b"one\n"), "fewer"),
        (lambda path: path.write_bytes(b"ONE\ntwo\nthree\n"), "not those"),
        (lambda path: path.write_bytes(b"ONE\ntwo\n" * 4), "not those"),
    ],
    ids=["truncated", "rewritten", "replaced"],
)
def test_a_file_that_is_not_what_was_read_lands_again_and_is_named_once(
    place: Place, change: object, reason: str
) -> None:
    path = place.write(MAIN, b"one\ntwo\n")
    place.collect()
    change(path)  # type: ignore[operator]
    made = place.collect()
    assert made.report.counts.conflicts == 1
    assert str(path) in made.report.problems[0]
    assert reason in made.report.problems[0]
    assert not made.clean
    assert place.raw() == [b"one", b"two", *path.read_bytes().splitlines()]
    assert [file.header.gen for file in place.files()][1:] == [1]
    assert place.collect().clean


def test_another_inode_with_the_same_bytes_goes_on(place: Place, tmp_path: Path) -> None:
    path = place.write(MAIN, b"one\n")
    place.collect()
    copy = tmp_path / "copy"
    shutil.copy(path, copy)
    copy.replace(path)
    place.append(MAIN, b"two\n")
    assert place.collect().report.counts.conflicts == 0
    assert place.raw() == [b"one", b"two"]
    assert place.cursor().inode == path.stat().st_ino


def test_times_alone_never_cause_a_read(place: Place) -> None:
    path = place.write(MAIN, b"one\n")
    place.collect()
    os.utime(path, (1, 1))
    place.collect()
    assert place.adapter.converted == []


def test_an_empty_file_lands_nothing_and_leaves_nothing(place: Place) -> None:
    place.write(MAIN, b"")
    made = place.collect()
    assert (made.report.counts.sources, made.report.counts.landed) == (1, 0)
    assert made.clean
    assert not (place.root / "s").exists()


def test_a_source_that_goes_and_comes_back(place: Place) -> None:
    path = place.write(MAIN, b"one\n")
    place.write("s/child.jsonl", b"c\n")
    place.collect()
    path.unlink()
    assert place.collect().report.counts.gone == 1
    assert place.cursor().state == "source_gone"
    assert place.collect().report.counts.gone == 0
    path.write_bytes(b"one\ntwo\n")
    place.collect()
    assert place.cursor().state == "active"
    assert sorted(place.raw()) == [b"c", b"one", b"two"]


def test_a_session_that_is_found_no_more_has_gone(place: Place) -> None:
    place.write(MAIN, b"one\n")
    place.collect()
    shutil.rmtree(place.source / "s")
    assert place.collect().report.counts.gone == 1
    assert place.collect().report.counts.gone == 0
    assert place.raw() == [b"one"]


def test_what_is_hidden_has_not_gone_and_hides_nothing_else(place: Place) -> None:
    for session in ("a", "b"):
        place.write(f"{session}/main.jsonl", b"one\n")
    place.collect()
    for session in ("a", "b"):
        shutil.rmtree(place.source / session)
    place.adapter.hidden = ("a/",)
    assert place.collect().report.counts.gone == 1
    assert place.cursor("a/main.jsonl", "a").state == "active"
    assert place.cursor("b/main.jsonl", "b").state == "source_gone"


def test_nothing_has_gone_when_not_everything_was_seen(place: Place) -> None:
    path = place.write(MAIN, b"one\n")
    place.collect()
    path.unlink()
    place.adapter.complete = False
    assert place.collect().report.counts.gone == 0
    assert place.cursor().state == "active"


def test_a_fifo_in_place_of_a_file_is_named_and_not_waited_for(place: Place) -> None:
    path = place.write(MAIN, b"one\n")
    place.write("t/main.jsonl", b"other\n")
    place.collect()
    path.unlink()
    os.mkfifo(path)
    place.append("t/main.jsonl", b"more\n")
    made = place.collect()
    assert made.report.counts.errors == 1
    assert f"{path}: not a regular file" in made.report.problems[0]
    assert place.raw("t") == [b"other", b"more"]


def test_a_link_out_of_the_root_is_not_read(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret\n")
    (place.source / "s").mkdir()
    (place.source / MAIN).symlink_to(outside)
    made = place.collect()
    assert "leads out of" in made.report.problems[0]
    assert not list(place.root.rglob("*.sd"))


def test_compressed_lines_are_read_and_go_on_when_the_file_is_replaced(place: Place) -> None:
    import zstandard

    from asz_hookspecs import Discovery, Session, Source

    pack = zstandard.ZstdCompressor().compress
    place.write("s/main.zst", pack(b"one\ntwo\n"))
    source = Source(
        src="s/main.zst", kind="transcript", shape="lines", root=str(place.source), stream="main",
        compression="zstd",
    )  # fmt: skip
    found = Discovery((Session("s", (source,)),), roots=(str(place.source),))
    place.adapter.discover = lambda _options, _followed: found  # type: ignore[method-assign]
    place.collect()
    place.collect()
    assert place.adapter.converted == []
    place.write("s/main.zst", pack(b"one\ntwo\nthree\n"))
    place.collect()
    assert place.raw() == [b"one", b"two", b"three"]
    place.write("s/main.zst", pack(b"ONE\ntwo\nthree\nfour\n"))
    assert place.collect().report.counts.conflicts == 1


def test_very_many_short_lines_land_a_part_at_a_time(place: Place) -> None:
    place.write(MAIN, b"\n" * 40_000 + b"end\n")
    place.collect()
    assert [size for _src, size, _carry in place.adapter.converted] == [16_384, 16_384, 7_233]
    records = place.records()
    assert [r.ord for r in records] == list(range(1, 40_002))
    assert [r.off for r in records] == list(range(40_001))
    assert records[-1].run == "40001"
