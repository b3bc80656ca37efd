"""Sources an adapter reads itself."""

from asz.collect.work import Limits
from asz.errors import AszError
from asz_hookspecs import RawRecord

from ...support.plain import Place


def test_records_land_and_the_position_is_handed_back(place: Place) -> None:
    store = place.adapter.stores["s", "main"] = [b"one", b"two"]
    place.collect()
    assert place.cursor("db/main").position == b"2"
    store.append(b"three")
    assert place.collect().report.counts.records == 1
    assert [(r.ord, r.off, r.size) for r in place.records()] == [(1, 0, 3), (2, 4, 3), (3, 8, 5)]


def test_nothing_lands_again_when_the_position_was_lost(place: Place) -> None:
    place.limits = Limits(max_delta_bytes=8)
    store = place.adapter.stores["s", "main"] = [b"one", b"two", b"three"]
    place.collect()
    (place.root / "s" / "state.db").unlink()
    store.append(b"four")
    assert place.collect().report.counts.records == 1
    assert place.raw() == [b"one", b"two", b"three", b"four"]
    assert [r.run for r in place.records()] == ["1", "2", "3", "4"]
    assert place.cursor("db/main").position == b"4"


def test_what_was_yielded_before_a_failure_is_kept(place: Place) -> None:
    place.adapter.stores["s", "main"] = [b"one", b"two"]
    whole = place.adapter.land

    def failing(options, source, position):  # type: ignore[no-untyped-def]
        for raw in whole(options, source, position):
            yield raw
            if raw.position == b"1" and not position:
                raise AszError("the store broke")

    place.adapter.land = failing  # type: ignore[method-assign]
    made = place.collect()
    assert made.report.problems == ["the store broke"]
    assert place.raw() == [b"one"]
    place.collect()
    assert place.raw() == [b"one", b"two"]


def test_a_position_that_moves_without_records_is_kept(place: Place) -> None:
    place.adapter.stores["s", "main"] = [b"one"]
    place.collect()
    place.adapter.land = lambda _o, _s, _p: iter([RawRecord(b"two", b"9")])  # type: ignore[method-assign]
    place.collect()
    assert place.cursor("db/main").position == b"9"


def test_a_store_that_says_something_else_goes_on_after_what_landed(place: Place) -> None:
    place.adapter.stores["s", "main"] = [b"one", b"two", b"three"]
    place.collect()
    (place.root / "s" / "state.db").unlink()
    place.adapter.stores["s", "main"] = [b"one", b"2", b"three"]
    place.collect()
    assert place.raw() == [b"one", b"two", b"three", b"2", b"three"]
    assert [r.ord for r in place.records()] == [1, 2, 3, 4, 5]
    assert place.collect().report.counts.records == 0
