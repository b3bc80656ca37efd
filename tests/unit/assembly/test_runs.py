import pytest

from asz.assembly.evidence import gather
from asz.assembly.runs import MAX_STEPS

from ...support.rows import Rows


def line(steps: int, **first: object) -> Rows:
    """A first record, and ``steps`` records hanging one from the other."""
    rows = Rows().file()
    rows.add("p0", **first)  # type: ignore[arg-type]
    for number in range(1, steps + 1):
        rows.add(f"p{number}", parent=f"p{number - 1}")
    return rows


@pytest.mark.parametrize(("steps", "found"), [(0, "r1"), (MAX_STEPS, "r1"), (MAX_STEPS + 1, None)])
def test_the_walk_ends_after_sixty_four_steps(steps: int, found: str | None) -> None:
    seen = gather(line(steps, run="r1").rows(), "s1")
    assert seen.walk.of(seen.records[-1]) == found


def test_a_walk_to_an_inferred_run_has_no_limit() -> None:
    seen = gather(line(500, run="p0", flags=["inferred"]).rows(), "s1")
    assert seen.walk.of(seen.records[-1]) == "p0"


def test_a_flag_on_a_record_with_a_stated_run_does_not_lift_the_limit() -> None:
    seen = gather(line(500, run="r1", flags=["inferred"]).rows(), "s1")
    assert seen.walk.of(seen.records[-1]) is None


def test_walks_cross_streams_and_kinds_and_pass_copies_to_their_original() -> None:
    rows = Rows().file()
    rows.add("u1", run="r1")
    rows.add("mid", parent="u1")
    rows.add("mid", parent="elsewhere")
    rows.file("a1", kind="agent_meta").add("card", parent="mid")
    rows.file("a1").add("c1", parent="card")
    seen = gather(rows.rows(), "s1")
    assert seen.walk.of(seen.records[-1]) == "r1"


def test_circles_and_lost_parents_end_nowhere() -> None:
    rows = Rows().file()
    rows.add("a", parent="b")
    rows.add("b", parent="a")
    rows.add("self", parent="self")
    rows.add("lost", parent="never landed")
    rows.add("behind", parent="a")
    seen = gather(rows.rows(), "s1")
    assert {seen.walk.of(record) for record in seen.records} == {None}
