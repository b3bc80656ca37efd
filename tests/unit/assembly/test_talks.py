import pytest

from asz.assembly.assemble import assemble
from asz.assembly.model import Structure

from ...support.rows import Rows, text


def talks(found: Structure) -> dict[str, list[str]]:
    """Run names by talk."""
    held: dict[str, list[str]] = {}
    for node in found.nodes.values():
        if node.kind == "talk":
            held.setdefault(node.id, [])
        if node.kind == "run" and node.parent:
            held.setdefault(node.parent, []).append(node.id.rsplit("/", 1)[1])
    return held


def test_only_an_external_trigger_or_none_at_all_starts_a_talk() -> None:
    rows = Rows().file()
    for number, trigger in enumerate(("external", "notification", "unknown", None, "odd"), 1):
        rows.add(f"u{number}", run=f"r{number}", trigger=trigger)
    found = assemble(rows.rows())
    assert talks(found) == {"talk/main/r1": ["r1", "r2", "r3"], "talk/main/r4": ["r4", "r5"]}
    assert found.nodes["run/talk_main_r4/r4"].attrs == {"trigger": "none_stated"}
    assert found.nodes["talk/main/r4"].attrs == {"trigger": "none_stated"}
    assert found.nodes["run/talk_main_r4/r5"].attrs == {"trigger": "unknown"}


@pytest.mark.parametrize(
    ("stated", "trigger"),
    [
        (("unknown", "external", "notification"), "external"),
        (("unknown", "notification"), "notification"),
        ((None, "unknown"), "unknown"),
    ],
)
def test_of_several_triggers_the_strongest_counts(
    stated: tuple[str | None, ...], trigger: str
) -> None:
    rows = Rows().file()
    for number, one in enumerate(stated):
        rows.add(f"u{number}", run="r1", trigger=one)
    found = assemble(rows.rows())
    run = next(node for node in found.nodes.values() if node.kind == "run")
    assert run.attrs["trigger"] == trigger


def test_a_run_before_any_talk_belongs_to_the_epoch() -> None:
    rows = Rows().file()
    rows.add("n1", run="r0", trigger="notification")
    rows.prompt("u1", "r1")
    found = assemble(rows.rows())
    assert found.nodes["run/epoch_main_0/r0"].parent == "epoch/main/0"
    assert found.nodes["notify/1/1"].parent == "run/epoch_main_0/r0"


def test_records_placed_by_walking_state_nothing() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.add("n1", run="r2", trigger="notification")
    rows.add("q1", parent="n1", trigger="external", flags=["external_input"])
    found = assemble(rows.rows())
    assert talks(found) == {"talk/main/r1": ["r1", "r2"]}
    assert found.nodes["input/1/3"].parent == "run/talk_main_r1/r2"


def test_runs_are_ordered_by_the_first_record_that_carries_them() -> None:
    rows = Rows().file()
    rows.add("x", parent="u2")
    rows.prompt("u1", "r1")
    rows.add("u2", run="r2", trigger="notification")
    assert talks(assemble(rows.rows())) == {"talk/main/r1": ["r1", "r2"]}


def test_a_rewritten_trigger_on_a_copy_does_not_count() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.add("n1", run="r2", trigger="notification")
    rows.add("n1", run="r3", trigger="external")
    assert list(talks(assemble(rows.rows()))) == ["talk/main/r1"]


def test_a_child_stream_is_one_talk_whatever_its_runs_say() -> None:
    rows = Rows().file("a1")
    rows.prompt("c1", "r1")
    rows.prompt("c2", "r2")
    rows.add("c3", flags=["notice"])
    found = assemble(rows.rows())
    assert talks(found) == {"talk/a1": ["r1", "r2"]}
    assert found.nodes["talk/a1"].attrs == {"trigger": "unknown"}
    assert found.nodes["notice/1/3"].parent == "talk/a1"


def test_one_run_name_in_two_streams_is_two_runs() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.file("a1").add("c1", run="r1")
    found = assemble(rows.rows())
    assert {"run/talk_main_r1/r1", "run/talk_a1/r1"} <= found.nodes.keys()


def test_a_child_that_hangs_from_another_stream_runs_under_that_run_without_stating_it() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.file("a1").response("c1", "m1", [text()], parent="u1")
    found = assemble(rows.rows())
    run = found.nodes["run/talk_a1/r1"]
    assert (run.attrs["trigger"], run.ref and (run.ref.seq, run.ref.row)) == ("none_stated", (2, 1))
    assert found.nodes["call/m1"].parent == run.id


def test_an_inferred_run_says_so_and_its_prompt_too() -> None:
    rows = Rows().file()
    rows.add("u1", run="u1", flags=["inferred", "external_input"])
    found = assemble(rows.rows())
    assert found.nodes["run/talk_main_u1/u1"].attrs == {"trigger": "none_stated", "inferred": True}
    assert found.nodes["input/1/1"].attrs == {"quality": "strong_inference"}


def test_a_record_that_no_walk_places_belongs_to_the_epoch() -> None:
    rows = Rows().file()
    rows.add("x", flags=["notice"])
    rows.prompt("u1", "r1")
    rows.add("y", flags=["command"], parent="lost")
    found = assemble(rows.rows())
    assert {found.nodes[name].parent for name in ("notice/1/1", "command/1/3")} == {"epoch/main/0"}
