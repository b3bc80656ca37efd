import pytest

from asz.assembly.assemble import assemble
from asz.assembly.model import Relation, Structure

from ...support.rows import Rows, call, result, text


def relations(found: Structure, type_: str) -> dict[tuple[str, str], Relation]:
    return {(r.from_, r.to): r for r in found.relations.values() if r.type == type_}


def still_open(found: Structure) -> set[str]:
    return {name for name in found.unresolved if "/tool_" not in name}


def child(rows: Rows, name: str = "a1") -> Rows:
    rows.file(name)
    rows.response(f"{name}-1", f"m-{name}", [text()])
    return rows


def launched(rows: Rows) -> Rows:
    """A workflow's launch on main."""
    rows.file()
    rows.response("l1", "ml", [call("t1", name="Workflow")])
    rows.add("l2", batch="w1", flags=["launch_ack"], parts=[result("t1")])
    return rows


def journal(rows: Rows, name: str = "a1", *, done: bool = False, label: str | None = None) -> Rows:
    rows.file(kind="journal", batch="w1").add(None, child=name, batch="w1")
    if done:
        rows.add(None, child=name, batch="w1", flags=["child_result"], label=label)
    return rows


def test_a_parent_result_that_names_the_child_is_exact() -> None:
    rows = Rows().file()
    rows.response("p1", "m1", [call("t1", name="Agent")])
    rows.add("p2", child="a1", flags=["child_result"], parts=[result("t1")])
    child(rows)
    found = assemble(rows.rows())
    edge = relations(found, "starts")["tool/t1", "stream/a1"]
    assert (edge.quality, edge.via) == ("exact_unique", "parent tool result")
    assert found.nodes["tool/t1"].kind == "agent.call"
    assert ("output/a1", "tool/t1") in relations(found, "result_of")
    assert still_open(found) == set()


def test_the_kind_comes_from_the_join_and_not_from_the_name() -> None:
    rows = Rows().file()
    rows.response("p1", "m1", [call("t1", name="Agent")])
    rows.add("p2", child="gone", flags=["launch_ack"], parts=[result("t1")])
    found = assemble(rows.rows())
    assert found.nodes["tool/t1"].kind == "tool"
    assert still_open(found) == {"unres/child_stream/gone"}
    assert not found.relations


def test_a_launch_acknowledgement_is_not_the_childs_output() -> None:
    rows = Rows().file()
    rows.response("p1", "m1", [call("t1")])
    rows.add("p2", child="a1", flags=["launch_ack"], parts=[result("t1")])
    found = assemble(child(rows).rows())
    assert ("tool/t1", "stream/a1") in relations(found, "starts")
    assert not relations(found, "result_of")


def test_a_journal_joins_through_the_first_result_that_names_the_run() -> None:
    rows = launched(Rows())
    rows.response("l3", "ml2", [call("t2")])
    rows.add("l4", batch="w1", parts=[result("t2")])
    found = assemble(journal(child(rows), done=True).rows())
    edge = relations(found, "starts")["tool/t1", "stream/a1"]
    assert (edge.quality, edge.via) == ("strong_inference", "run journal")
    assert found.nodes["tool/t2"].kind == "tool"
    assert found.nodes["stream/a1"].attrs["batch"] == "w1"
    assert not relations(found, "result_of")


def test_a_journal_may_lead_the_child_and_the_launch() -> None:
    rows = Rows().file()
    rows.prompt("u1")
    journal(rows)
    assert still_open(assemble(rows.rows())) == {
        "unres/child_stream/a1",
        "unres/spawn_call/w1",
    }
    child(rows)
    assert still_open(assemble(rows.rows())) == {"unres/spawn_call/w1"}
    launched(rows)
    found = assemble(rows.rows())
    assert still_open(found) == set()
    assert ("tool/t1", "stream/a1") in relations(found, "starts")


def test_a_run_without_a_launch_is_one_open_reference_and_no_child_is_an_orphan() -> None:
    rows = child(child(Rows(), "a1"), "a2")
    journal(rows, "a1")
    rows.add(None, child="a2", batch="w1")
    assert still_open(assemble(rows.rows())) == {"unres/spawn_call/w1"}


def test_a_result_whose_use_has_not_landed_leaves_the_call_open() -> None:
    rows = Rows().file()
    rows.add("p2", child="a1", parts=[result("t9")])
    assert still_open(assemble(child(rows).rows())) == {"unres/spawn_call/t9"}


def test_a_sidecar_that_names_the_starter_joins_without_a_relation() -> None:
    rows = child(Rows())
    rows.file("a1", kind="agent_meta").add(None, child="a1", started_by="a0", label="looks around")
    found = assemble(rows.rows())
    assert not relations(found, "starts")
    assert still_open(found) == set()
    attrs = found.nodes["stream/a1"].attrs
    assert (attrs["label"], attrs["started_by"]) == ("looks around", "a0")


def test_a_child_that_nothing_names_stays_under_the_session() -> None:
    rows = child(Rows())
    rows.file("a1", kind="agent_meta").add(None, child="a1")
    found = assemble(rows.rows())
    assert still_open(found) == {"unres/spawn_of_child/a1"}
    assert found.nodes["stream/a1"].parent == "session/s1"


def test_a_helper_of_the_runtime_is_no_orphan() -> None:
    rows = Rows().file("acompact-1")
    rows.add("h1", flags=["auxiliary"])
    found = assemble(rows.rows())
    assert found.nodes["stream/acompact-1"].attrs["role"] == "auxiliary"
    assert still_open(found) == set()


def test_a_notification_that_names_both_starts_a_nested_child() -> None:
    rows = child(Rows(), "a0")
    rows.response("n1", "mn", [call("t5")])
    rows.add("n2", parts=[result("t5")])
    child(rows, "a1")
    rows.file("a1", kind="agent_meta").add(None, child="a1", started_by="a0")
    rows.file().add("n3", trigger="notification", child="a1", tool="t5")
    found = assemble(rows.rows())
    edge = relations(found, "starts")["tool/t5", "stream/a1"]
    assert (edge.quality, edge.via) == ("exact_unique", "completion notification")
    seq = found.through_seq
    report = relations(found, "reports")[f"notify/{seq}/1", "stream/a1"]
    assert (report.quality, report.via) == ("exact_unique", "task id on the notification")
    assert not relations(found, "result_of")


def test_a_notified_child_that_has_not_landed_stays_open() -> None:
    rows = Rows().file()
    rows.add("n1", trigger="notification", child="a1", tool="t1")
    assert still_open(assemble(rows.rows())) == {"unres/notified_child/a1", "unres/spawn_call/t1"}


@pytest.mark.parametrize("children", [1, 2])
def test_a_notification_of_a_call_reports_to_its_only_child(children: int) -> None:
    rows = launched(Rows())
    for number in range(children):
        journal(child(rows, f"a{number}"), f"a{number}")
    rows.file().add("n1", trigger="notification", tool="t1")
    found = assemble(rows.rows())
    name = f"notify/{found.through_seq}/1"
    reports = relations(found, "reports")
    if children == 1:
        report = reports[name, "stream/a0"]
        assert (report.quality, report.via) == (
            "strong_inference",
            "the call the notification completes",
        )
        assert "candidates" not in found.nodes[name].attrs
    else:
        assert not reports
        assert found.nodes[name].attrs["candidates"] == 2


def test_exact_evidence_goes_before_the_journals_inference() -> None:
    rows = launched(Rows())
    journal(child(rows))
    rows.file().add("n1", trigger="notification", tool="t1", child="a1")
    edges = relations(assemble(rows.rows()), "starts")
    assert [edge.quality for edge in edges.values()] == ["exact_unique"]


def test_a_workflows_name_sits_on_the_call_that_launched_it() -> None:
    rows = launched(Rows())
    manifest = rows.file(kind="workflow_manifest", batch="w1")
    manifest.add(None, batch="w1", label="audit")
    manifest.add(None, batch="w1", label="audit all")
    assert assemble(rows.rows()).nodes["tool/t1"].attrs["workflow"] == "audit all"


def test_a_journal_names_a_child_only_without_a_sidecars_label() -> None:
    rows = journal(child(launched(Rows())), done=True, label="kept order")
    attrs = assemble(rows.rows()).nodes["stream/a1"].attrs
    assert (attrs["label"], attrs["named_by"]) == ("kept order", "journal")
    rows.file("a1", kind="agent_meta").add(None, child="a1", label="said so")
    attrs = assemble(rows.rows()).nodes["stream/a1"].attrs
    assert attrs["label"] == "said so"
    assert "named_by" not in attrs
