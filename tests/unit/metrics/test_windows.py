"""Points become windows: nothing is lost, nothing overlaps, whatever comes late or again."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from asz.metrics.windows import MINUTE_NS, SHORTEST_NS, Window, cut, minute
from asz_hookspecs import MetricPoint

SECOND = 1_000_000_000
START = 1_780_000_020 * SECOND  # a whole minute


def point(at: float, value: float = 1.0, **attributes: str | bool | int | float) -> MetricPoint:
    return MetricPoint(name="m", attributes=attributes, value=value, time=START + int(at * SECOND))


def nothing(_series: str) -> int:
    return 0


batches = st.lists(
    st.lists(
        st.builds(
            point,
            st.integers(0, 360),
            st.integers(0, 9).map(float),
            series=st.sampled_from(("a", "b")),
        ),
        max_size=8,
    ),
    max_size=6,
)


@given(batches)
def test_windows_never_overlap_and_keep_every_value(given_: list[list[MetricPoint]]) -> None:
    ends: dict[str, int] = {}
    values: dict[str, float] = {}
    for batch in given_:
        for window in cut(batch, lambda key: ends.get(key, 0)):
            key = window.series.key
            assert ends.get(key, 0) <= window.start < window.end
            assert window.end - window.start >= SHORTEST_NS
            ends[key] = window.end
            values[key] = values.get(key, 0.0) + window.value
    assert sum(values.values()) == sum(one.value for batch in given_ for one in batch)
    latest = max((minute(one.time) + MINUTE_NS for batch in given_ for one in batch), default=0)
    moved = sum(map(len, given_)) * SHORTEST_NS
    assert all(end <= latest + moved for end in ends.values())


@given(st.lists(st.builds(point, st.integers(0, 360), st.floats(0, 1e9))), st.randoms())
def test_the_order_of_points_changes_nothing(found: list[MetricPoint], random: Random) -> None:
    other = list(found)
    random.shuffle(other)
    assert cut(other, nothing) == cut(found, nothing)


@given(st.lists(st.integers(0, 360), min_size=1))
def test_what_comes_at_once_has_the_minutes_of_its_points(times: list[int]) -> None:
    expected: dict[int, float] = {}
    for at in times:
        begin = START + at // 60 * MINUTE_NS
        expected[begin] = expected.get(begin, 0.0) + 1.0
    windows = cut([point(at) for at in times], nothing)
    assert {w.start: w.value for w in windows} == expected
    assert all(window.end == window.start + MINUTE_NS for window in windows)


def spans(windows: Sequence[Window]) -> list[tuple[int, int]]:
    return [(window.start - START, window.end - START) for window in windows]


def test_the_rest_of_a_minute_follows_it_for_a_millisecond() -> None:
    late = cut([point(30)], lambda _series: START + MINUTE_NS)
    assert spans(late) == [(MINUTE_NS, MINUTE_NS + SHORTEST_NS)]


def test_a_minute_that_is_begun_is_taken_from_there() -> None:
    ended = START + MINUTE_NS + SHORTEST_NS
    assert spans(cut([point(90)], lambda _series: ended)) == [
        (MINUTE_NS + SHORTEST_NS, 2 * MINUTE_NS)
    ]


def test_late_minutes_follow_one_after_the_other() -> None:
    late = cut([point(0), point(60)], lambda _series: START + 10 * MINUTE_NS)
    begin = 10 * MINUTE_NS
    assert spans(late) == [
        (begin, begin + SHORTEST_NS),
        (begin + SHORTEST_NS, begin + 2 * SHORTEST_NS),
    ]


def test_values_of_another_type_are_another_series() -> None:
    windows = cut([point(0, a=1), point(0, a=1.0), point(0, a=True), point(0, a="1")], nothing)
    assert len(windows) == 4


def test_a_description_tells_no_series_apart() -> None:
    one = MetricPoint(name="m", description="y", value=1.0, time=START)
    two = MetricPoint(name="m", description="x", value=2.0, time=START)
    (window,) = cut([one, two], nothing)
    assert (window.value, window.series.description) == (3.0, "x")
