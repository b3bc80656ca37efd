from asz.assembly.assemble import assemble

from ...support.rows import Rows, call, result, text, thinking


def test_usage_is_that_of_the_last_fragment_and_never_a_sum() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.response("a1", "m1", [thinking()], parent="u1", usage=(1, 3, 0, 0))
    rows.response("a2", "m1", [call("t1")], parent="a1", usage=(1, 5, 0, 0))
    rows.answer("b1", "t1", parent="a2")
    rows.response("a3", "m1", [text()], parent="a2", usage=(2, 159, 7, 8))
    found = assemble(rows.rows())
    node = found.nodes["call/m1"]
    assert node.attrs == {
        "fragments": 3,
        "usage_from": "last_fragment_in_line_order",
        "usage": "observed_replayable",
        "usage_at": {"seq": 1, "row": 5},
    }
    assert [(ref.seq, ref.row) for ref in node.refs] == [(1, 2), (1, 3), (1, 5)]
    assert node.parent == "run/talk_main_r1/r1"
    assert found.facts.tokens.output == 159


def test_a_call_that_never_stopped_has_no_usage_but_what_was_reported_can_be_found() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [text()], finished=False, usage=(1, 2, 0, 0))
    rows.response("a2", "m2", [text()], finished=False)
    found = assemble(rows.rows())
    assert found.nodes["call/m1"].attrs["usage"] == "unavailable"
    assert found.nodes["call/m1"].attrs["stop_reason"] == "unavailable"
    assert found.nodes["call/m1"].attrs["usage_reported_at"] == {"seq": 1, "row": 1}
    assert "usage_reported_at" not in found.nodes["call/m2"].attrs
    assert found.facts.tokens.output == 0


def test_any_fragment_may_say_why_a_response_stopped() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [text()], usage=(1, 1, 0, 0))
    rows.response("a2", "m1", [text()], finished=False, usage=(1, 9, 0, 0))
    attrs = assemble(rows.rows()).nodes["call/m1"].attrs
    assert attrs["usage_at"] == {"seq": 1, "row": 2}


def test_fragments_of_two_calls_may_lie_between_each_other() -> None:
    rows = Rows().file()
    for number, name in enumerate(("m1", "m2", "m1", "m2")):
        rows.response(f"a{number}", name, [text()])
    found = assemble(rows.rows())
    assert [found.nodes[f"call/{name}"].attrs["fragments"] for name in ("m1", "m2")] == [2, 2]


def test_a_synthetic_record_is_in_no_call() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.response("a1", "m1", [text()], parent="u1", flags=["synthetic"])
    found = assemble(rows.rows())
    assert "call/m1" not in found.nodes
    node = found.nodes["msg/1/2:0"]
    assert (node.kind, node.parent) == ("message.synthetic", "run/talk_main_r1/r1")


def test_a_call_in_two_streams_belongs_to_the_last_ones_stream_and_the_first_ones_run() -> None:
    rows = Rows().file("a1")
    rows.prompt("c1", "r1")
    rows.response("c2", "m1", [text()], parent="c1")
    rows.file("main")
    rows.prompt("u1", "r1")
    rows.prompt("u2", "r2")
    rows.response("u3", "m1", [text()], parent="u2")
    rows.file("a1").response("c3", "m2", [text()], parent="c1")
    found = assemble(rows.rows())
    assert (found.nodes["call/m1"].stream, found.nodes["call/m1"].parent) == (
        "main",
        "run/talk_main_r1/r1",
    )
    assert found.nodes["call/m2"].stream == "a1"


def test_parts_hang_from_their_call() -> None:
    rows = Rows().file()
    rows.response("a1", "m1", [thinking(0), text(1), call("t1", 2), text(3)])
    rows.add("b1", from_="external", parts=[text(0), result("t1", 1)])
    found = assemble(rows.rows())
    assert {
        name: node.parent for name, node in found.nodes.items() if node.parent == "call/m1"
    } == {
        "think/1/1:0": "call/m1",
        "msg/1/1:1": "call/m1",
        "msg/1/1:3": "call/m1",
        "tool/t1": "call/m1",
    }
