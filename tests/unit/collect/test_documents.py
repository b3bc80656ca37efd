"""Documents rewritten whole: each version is one record."""

import os

from ...support.plain import Place

SIDE = "s/child.json"


def test_each_version_lands_once(place: Place) -> None:
    path = place.write(SIDE, b'{"a":1}\n')
    place.collect()
    place.collect()
    place.write(SIDE, b'{"a":2}\n')
    os.utime(path, (2_000_000_000, 2_000_000_000))
    place.collect()
    assert [(r.ord, r.off) for r in place.records()] == [(1, 0), (2, 0)]
    assert place.raw() == [b'{"a":1}', b'{"a":2}']


def test_trailing_newlines_are_no_version(place: Place) -> None:
    place.write(SIDE, b'{"a":1}')
    place.collect()
    place.write(SIDE, b'{"a":1}\n\n')
    assert place.collect().report.counts.landed == 0


def test_an_empty_document_lands_nothing(place: Place) -> None:
    place.write(SIDE, b"")
    assert place.collect().clean
    place.write(SIDE, b"{}")
    place.collect()
    place.write(SIDE, b"\n")
    place.collect()
    assert place.raw() == [b"{}"]


def test_a_change_back_is_a_version_too(place: Place) -> None:
    for text in (b"[1]", b"[2]", b"[1]"):
        place.write(SIDE, text)
        place.collect()
    assert place.raw() == [b"[1]", b"[2]", b"[1]"]


def test_a_second_write_within_the_same_moment_is_seen(place: Place) -> None:
    path = place.write(SIDE, b"[1]")
    place.collect()
    times = path.stat()
    path.write_bytes(b"[2]")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    place.collect()
    assert place.raw() == [b"[1]", b"[2]"]


def test_a_settled_document_is_not_read_again(place: Place) -> None:
    path = place.write(SIDE, b"[1]")
    os.utime(path, (1, 1))
    place.collect()
    place.collect()
    before = place.cursor(SIDE).read_at_ns
    place.collect()
    assert place.cursor(SIDE).read_at_ns == before
