import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz.assembly.model import Node, Ref, Relation, Unresolved
from asz.flow.plan import OVERHEAD, cuts, earlier_cut, too_big
from asz.flow.sf import Frames, encode_frame


def nodes(*seqs: int) -> list[Node]:
    """A node for each sequence, of one size."""
    return [Node(f"n{place:03d}", 1, "tool", ref=Ref(seq, 1)) for place, seq in enumerate(seqs)]


SIZE = len(encode_frame(nodes(1)[0])) + 1


def test_a_round_is_cut_where_its_charge_passes_the_budget() -> None:
    frames = Frames(nodes(1, 1, 2, 2, 3, 3))
    assert cuts(frames, [1, 2, 3], OVERHEAD + 6 * SIZE) == [3]
    assert cuts(frames, [1, 2, 3], OVERHEAD + 4 * SIZE) == [2, 3]
    assert cuts(frames, [1, 2, 3], OVERHEAD) == [1, 2, 3]


def test_frames_without_a_place_among_the_new_files_are_charged_to_the_first() -> None:
    gone = Relation("r", 1, tombstone=True)
    entry = Unresolved("u", 1, "tool_use", "t", "why", "open")
    frames = Frames(nodes(1, 2), [gone], [entry])
    assert cuts(frames, [7, 9], OVERHEAD + 2 * SIZE) == [7, 9]


def test_a_relation_is_charged_to_the_file_that_completes_it() -> None:
    relation = Relation("r", 1, "starts", "a", "b", "q", "v", (Ref(1, 1), Ref(3, 1)))
    assert cuts(Frames([], [relation]), [1, 2, 3], OVERHEAD + 1) == [2, 3]


@pytest.mark.parametrize(
    ("size", "files", "again"), [(1250, 2, False), (1251, 2, True), (9999, 1, False)]
)
def test_a_round_may_pass_its_budget_by_a_quarter_or_with_one_file(
    size: int, files: int, again: bool
) -> None:
    assert too_big(size, 1000, files) is again


@given(st.integers(2, 50), st.integers(1, 10_000), st.integers(1, 100_000))
def test_a_second_cut_is_always_earlier(files: int, budget: int, size: int) -> None:
    seqs = list(range(5, 5 + files))
    assert 5 <= earlier_cut(seqs, size, budget) < seqs[-1]
