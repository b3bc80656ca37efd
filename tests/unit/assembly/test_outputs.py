from asz.assembly.assemble import assemble

from ...support.rows import Rows, text


def child(*, finished: bool = True) -> Rows:
    rows = Rows().file("a1")
    rows.add("c1", run="r1")
    rows.response("c2", "m1", [text()], parent="c1", finished=finished)
    rows.response("c3", "m2", [text()], parent="c1", flags=["synthetic"])
    return rows


def test_an_output_is_the_last_response_that_is_not_synthetic() -> None:
    found = assemble(child().rows())
    node = found.nodes["output/a1"]
    assert node.attrs == {"returned_value": "unavailable"}
    assert [(ref.seq, ref.row) for ref in node.refs] == [(1, 2)]
    assert node.parent == "run/talk_a1/r1"
    ends = found.relations["rel/ends_with/stream_a1/output_a1"]
    assert (ends.quality, ends.via) == ("exact_unique", "last response")


def test_a_journals_last_result_is_what_was_returned() -> None:
    rows = child()
    rows.file(kind="journal", batch="w1")
    for _ in range(2):
        rows.add(None, child="a1", batch="w1", flags=["child_result"])
    node = assemble(rows.rows()).nodes["output/a1"]
    assert node.attrs == {"returned_value": "observed_replayable"}
    assert [(ref.seq, ref.row) for ref in node.refs] == [(1, 2), (2, 2)]


def test_a_journals_result_is_enough() -> None:
    rows = Rows().file("a1")
    rows.add("c1", run="r1")
    rows.file(kind="journal", batch="w1")
    rows.add(None, child="a1", batch="w1", flags=["child_result"])
    node = assemble(rows.rows()).nodes["output/a1"]
    assert (node.parent, node.ref and node.ref.seq) == ("talk/a1", 2)


def test_without_either_there_is_no_output_and_main_has_none() -> None:
    rows = Rows().file("a1")
    rows.add("c1", run="r1")
    rows.file().response("a1", "m1", [text()])
    assert not [
        node for node in assemble(rows.rows()).nodes.values() if node.kind == "agent.output"
    ]
