"""The token bucket, on a clock of the test's own."""

from hypothesis import given
from hypothesis import strategies as st

from asz.export.limiter import Limiter


def test_without_a_limit_nothing_waits() -> None:
    limiter = Limiter(0, lambda: 0.0)
    limiter.spend(10**12)
    assert limiter.delay(10**12) == 0


def test_a_minute_may_go_at_once_and_then_waits() -> None:
    now = [0.0]
    limiter = Limiter(600, lambda: now[0])
    assert limiter.delay(600) == 0
    limiter.spend(600)
    assert limiter.delay(10) == 1
    now[0] += 0.5
    assert limiter.delay(10) == 0.5


def test_what_is_larger_than_a_minute_waits_for_a_full_bucket_and_owes_the_rest() -> None:
    now = [0.0]
    limiter = Limiter(600, lambda: now[0])
    limiter.spend(60)
    assert limiter.delay(6_000) == 6
    now[0] += 6
    limiter.spend(6_000)
    assert limiter.delay(60) == (5_400 + 60) / 10


@given(
    limit=st.integers(1, 10**6),
    sizes=st.lists(st.integers(1, 2 * 10**6), max_size=30),
    pauses=st.lists(st.floats(0, 200), min_size=30, max_size=30),
)
def test_no_span_of_time_holds_more_than_it_allows(
    limit: int, sizes: list[int], pauses: list[float]
) -> None:
    now = [0.0]
    limiter = Limiter(limit, lambda: now[0])
    sent: list[tuple[float, int]] = []
    for size, pause in zip(sizes, pauses, strict=False):
        now[0] += pause
        now[0] += limiter.delay(size)
        limiter.spend(size)
        sent.append((now[0], size))
    for first, (start, _) in enumerate(sent):
        for last in range(first, len(sent)):
            end, size = sent[last]
            before = sum(each for _, each in sent[first:last])
            allowed = limit + (end - start) * limit / 60
            assert before + min(size, limit) <= allowed * (1 + 1e-6) + 1e-3
