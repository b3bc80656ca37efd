"""A source that changes its name under one key is read on."""

from asz_hookspecs import Discovery, Session, Source

from ...support.plain import Place


def found(place: Place, src: str) -> None:
    source = Source(
        src=src, kind="transcript", shape="lines", root=str(place.source), stream="main", key="main"
    )
    discovery = Discovery((Session("s", (source,)),), roots=(str(place.source),))
    place.adapter.discover = lambda _options, _followed: discovery  # type: ignore[method-assign]


def test_a_renamed_file_goes_on_where_it_was(place: Place) -> None:
    path = place.write("old/x.jsonl", b"one\n")
    found(place, "old/x.jsonl")
    place.collect()
    (place.source / "new").mkdir()
    path.rename(place.source / "new" / "x.jsonl")
    found(place, "new/x.jsonl")
    assert place.collect().report.counts.landed == 0
    assert place.cursor("new/x.jsonl").ord == 1
    place.append("new/x.jsonl", b"two\n")
    place.collect()
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 4)]
    assert [file.header.src for file in place.files()] == ["old/x.jsonl", "new/x.jsonl"]


def test_other_bytes_under_the_same_key_are_a_next_reading(place: Place) -> None:
    place.write("old/x.jsonl", b"one\n")
    found(place, "old/x.jsonl")
    place.collect()
    place.write("new/x.jsonl", b"two\nthree\n")
    (place.source / "old" / "x.jsonl").unlink()
    found(place, "new/x.jsonl")
    assert place.collect().report.counts.conflicts == 1
    assert place.raw() == [b"one", b"two", b"three"]
    assert [file.header.gen for file in place.files()] == [None, 1]
    assert place.collect().clean
