"""One bad record is one bad record, whatever an adapter does to it."""

from asz.errors import AszError
from asz_hookspecs import Converted, Part, Record

from ...support.plain import Place

MAIN = "s/main.jsonl"


def test_a_window_that_fails_is_converted_record_by_record(place: Place) -> None:
    whole = place.adapter.convert

    def convert(source, records, carry):  # type: ignore[no-untyped-def]
        if b"bad" in records:
            raise AszError("adapter plain: asz_convert: broke")
        return whole(source, records, carry)

    place.adapter.convert = convert  # type: ignore[method-assign]
    place.write(MAIN, b"one\nbad\ntwo\nbad\n")
    made = place.collect()
    assert made.report.problems == ["adapter plain: asz_convert: broke"]
    assert (made.report.counts.records, made.report.counts.damaged) == (4, 2)
    assert place.raw() == [b"one", b"bad", b"two", b"bad"]
    assert [r.run for r in place.records()] == ["1", None, "2", None]
    assert place.collect().report.counts.landed == 0


def test_what_cannot_be_written_lands_as_it_is(place: Place) -> None:
    bad = [
        Record(flags=("no such flag",)),
        Record(id=object()),  # type: ignore[arg-type]
        Record(parts=[Part("no such kind")]),
        Record(parts=[Part("data", data="not bytes")]),  # type: ignore[arg-type]
        Record(from_="nobody"),
        Record(trigger="sunrise"),
        Record(parts=[Part("text", text="x", state="lost")]),
    ]
    place.adapter.convert = lambda _s, records, _c: Converted(bad[: len(records)])  # type: ignore[method-assign]
    lines = [b"%d" % n for n in range(len(bad))]
    place.write(MAIN, b"".join(line + b"\n" for line in lines))
    made = place.collect()
    assert place.raw() == lines
    assert made.report.counts.damaged == len(bad)
    assert made.report.counts.errors == len(bad)
    assert all("adapter plain" in line for line in made.report.problems)
