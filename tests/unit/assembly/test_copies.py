import pytest

from asz.assembly.assemble import assemble
from asz.assembly.evidence import gather

from ...support.rows import Rows, result, text


def kept(rows: Rows) -> list[tuple[int, int]]:
    return [(record.seq, record.row) for record in gather(rows.rows(), "s1").records]


def test_the_first_of_a_stream_is_kept() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.add("u1", run="r2", trigger="external")
    rows.add("u1", run="r3")
    assert kept(rows) == [(1, 1)]


def test_main_beats_a_child_and_a_child_beats_a_helper_whatever_landed_first() -> None:
    rows = Rows().file("aside", kind="transcript")
    rows.add("x", flags=["auxiliary"])
    rows.add("y")
    rows.file("a1")
    rows.add("x")
    rows.add("y")
    rows.file("main")
    rows.add("x")
    assert kept(rows) == [(2, 2), (3, 1)]


def test_the_highest_revision_wins_even_against_main() -> None:
    rows = Rows().file("main")
    rows.add("x", rev=1)
    rows.file("a1")
    rows.add("x", rev=2)
    rows.add("x", rev=2)
    assert kept(rows) == [(2, 1)]


def test_records_without_id_are_copies_only_of_themselves() -> None:
    rows = Rows().file()
    first = rows.add(None)
    rows.add(None)
    replayed = rows.add(None, ord=1)
    assert (replayed.off, replayed.sha) == (first.off, first.sha)
    rows.file("a1").add(None)
    assert kept(rows) == [(1, 1), (1, 2), (2, 1)]


@pytest.mark.parametrize("first", [True, False])
def test_change_records_are_set_aside(first: bool) -> None:
    rows = Rows()
    if first:
        rows.file("main", kind="changes").add("u1", run="r1", tool="t1", parts=[text()])
    rows.file().prompt("u1")
    if not first:
        rows.file("main", kind="changes").add("u1", run="r1", tool="t1", parts=[text()])
    found = assemble(rows.rows())
    seq = 2 if first else 1
    assert {node.ref.seq for node in found.nodes.values() if node.ref} == {seq}
    assert f"input/{seq}/1" in found.nodes
    assert found.unresolved == {}


def test_copies_do_not_make_a_join_ambiguous() -> None:
    rows = Rows().file()
    rows.prompt("u1")
    rows.response("a1", "m1", [text(0)], parent="u1")
    rows.add("r1", parts=[result("t1")], parent="a1")
    rows.add("r1", parts=[result("t1")], parent="a1")
    assert list(assemble(rows.rows()).unresolved) == ["unres/tool_use/t1"]
