from asz.assembly.assemble import assemble
from asz.assembly.model import Structure

from ...support.rows import Rows, call, result


def still_open(found: Structure) -> set[str]:
    return set(found.unresolved)


def test_a_use_and_its_result_join_across_streams() -> None:
    rows = Rows().file("a1")
    rows.add("c1", parts=[result("t1", failed=False)])
    rows.file("main")
    rows.response("a1", "m1", [call("t1", name="Read")])
    found = assemble(rows.rows())
    node = found.nodes["tool/t1"]
    assert node.attrs == {
        "name": "Read",
        "result": "available",
        "result_join": "exact_unique",
        "timing": "unavailable",
        "failed": False,
    }
    assert [(ref.seq, ref.row, ref.block) for ref in node.refs] == [(2, 1, 0), (1, 1, 0)]
    assert "unres/tool_result/t1" not in still_open(found)


def test_failed_is_said_only_when_it_was_stated() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [call("t1"), call("t2", 1)])
    rows.add("b1", parts=[result("t1"), result("t2", 1, failed=True)])
    found = assemble(rows.rows())
    assert "failed" not in found.nodes["tool/t1"].attrs
    assert found.nodes["tool/t2"].attrs["failed"] is True


def test_ids_are_matched_whole_and_in_their_case() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [call("toolu_A")])
    rows.add("b1", parts=[result("toolu_a"), result("toolu_Ab", 1)])
    assert still_open(assemble(rows.rows())) == {
        "unres/tool_result/toolu_A",
        "unres/tool_use/toolu_a",
        "unres/tool_use/toolu_Ab",
    }


def test_of_several_results_none_is_chosen() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [call("t1")])
    rows.add("b1", parts=[result("t1", failed=True)])
    rows.add("b2", parts=[result("t1")])
    found = assemble(rows.rows())
    node = found.nodes["tool/t1"]
    assert (node.attrs["result_join"], node.attrs["result"]) == ("exact_ambiguous", "unavailable")
    assert "failed" not in node.attrs
    assert len(node.refs) == 3
    assert still_open(found) == {"unres/tool_result/t1"}


def test_ids_counted_from_zero_join_in_order_within_their_stream() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [call("call_0")])
    rows.add("b1", parts=[result("call_0", failed=False)])
    rows.response("a2", "m2", [call("call_0"), call("call_1", 1)])
    rows.add("b2", parts=[result("call_0", failed=True), result("call_1", 1)])
    rows.response("a3", "m3", [call("call_0")])
    found = assemble(rows.rows())
    first, second, third = (f"tool/call_0{place}" for place in ("", "@1/3:0", "@1/5:0"))
    assert [found.nodes[name].attrs["result_join"] for name in (first, second, third)] == [
        "strong_inference",
        "strong_inference",
        "unresolved",
    ]
    assert [found.nodes[name].attrs["failed"] for name in (first, second)] == [False, True]
    assert found.nodes["tool/call_1"].attrs["result_join"] == "exact_unique"
    assert still_open(found) == {"unres/tool_result/call_0@1%2F5:0"}


def test_a_repeated_id_is_not_answered_from_another_stream_or_before_it_was_asked() -> None:
    rows = Rows().file()
    rows.add("b0", parts=[result("call_0")])
    rows.response("a1", "m1", [call("call_0")])
    rows.response("a2", "m2", [call("call_0")])
    rows.file("a1").add("c1", parts=[result("call_0")])
    found = assemble(rows.rows())
    joins = {
        found.nodes[name].attrs["result_join"] for name in ("tool/call_0", "tool/call_0@1/3:0")
    }
    assert joins == {"unresolved"}
    assert "unres/tool_use/call_0" in still_open(found)


def test_parts_without_an_id_are_steps_that_join_nothing() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [call(None), call("", 1)])
    rows.add("b1", parts=[result(None)])
    found = assemble(rows.rows())
    assert {name for name, node in found.nodes.items() if node.kind == "tool"} == {
        "tool/@1/1:0",
        "tool/@1/1:1",
    }
    assert still_open(found) == {
        "unres/tool_result/@1%2F1:0",
        "unres/tool_result/@1%2F1:1",
        "unres/tool_use/@1%2F2:0",
    }


def test_a_use_outside_any_call_hangs_from_its_records_container() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.add("a1", from_="agent", parent="u1", parts=[call("t1")])
    assert assemble(rows.rows()).nodes["tool/t1"].parent == "run/talk_main_r1/r1"
