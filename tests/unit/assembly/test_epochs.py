from asz.assembly.assemble import assemble

from ...support.rows import Rows, text


def reset(rows: Rows, id_: str | None, **fields: object) -> None:
    rows.add(id_, flags=["context_reset"], from_="runtime", **fields)  # type: ignore[arg-type]


def test_a_reset_cuts_and_its_summary_pairs_through_its_parent_whatever_the_times() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1", at=0)
    rows.response("a1", "m1", [text()], parent="u1", at=1)
    reset(rows, "b1", continues="a1", at=60)
    rows.add("s1", flags=["reset_summary"], parent="b1", run="r2", at=59)
    rows.response("a2", "m2", [text()], parent="s1", at=61)
    found = assemble(rows.rows())
    first, second = found.nodes["epoch/main/0"], found.nodes["epoch/main/b1"]
    assert second.attrs == {"continues_from": "a1", "continues_at": {"seq": 1, "row": 2}}
    assert first.attrs == {}
    follows = found.relations["rel/follows/epoch_main_b1/epoch_main_0"]
    assert (follows.quality, follows.via) == ("exact_unique", "explicit context reset")
    assert found.nodes["boundary/1/3"].parent == "epoch/main/b1"
    assert found.nodes["summary/1/4"].parent == "epoch/main/b1"
    assert found.relations["rel/summarizes/summary_1_4/boundary_1_3"].via == "containment parent"
    assert found.nodes["talk/main/r2"].parent == "epoch/main/b1"


def test_a_pointer_to_nothing_landed_stays_open_and_loses_nothing_before_it() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    reset(rows, "b1", continues="never")
    found = assemble(rows.rows())
    assert "unres/epoch_continuation/never" in found.unresolved
    assert found.nodes["epoch/main/b1"].attrs == {"continues_from": "never"}
    assert "input/1/1" in found.nodes


def test_a_stream_that_begins_with_a_reset_has_one_epoch() -> None:
    rows = Rows().file("a1")
    reset(rows, "b1")
    rows.add("c1", run="r1")
    found = assemble(rows.rows())
    assert [name for name, node in found.nodes.items() if node.kind == "epoch"] == ["epoch/a1/b1"]
    assert found.nodes["talk/a1"].parent == "epoch/a1/b1"


def test_a_run_or_call_in_a_later_epoch_than_its_talk_says_which() -> None:
    rows = Rows().file("a1")
    rows.prompt("c1", "r1")
    rows.response("c2", "m1", [text()], parent="c1")
    reset(rows, "b1")
    rows.prompt("c3", "r2", trigger=None)
    rows.response("c4", "m2", [text()], parent="c3")
    rows.response("c5", "m3", [text()], parent="c1")
    found = assemble(rows.rows())
    assert "epoch" not in found.nodes["call/m1"].attrs
    late = ("run/talk_a1/r2", "call/m2", "call/m3")
    assert {found.nodes[name].attrs["epoch"] for name in late} == {"epoch/a1/b1"}
    assert found.nodes["call/m3"].parent == "run/talk_a1/r1"


def test_an_unpaired_summary_is_injected_context() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    rows.add("s1", flags=["reset_summary"], parent="u1")
    rows.add("s2", flags=["reset_summary"])
    found = assemble(rows.rows())
    assert {found.nodes[f"inject/1/{row}"].kind for row in (2, 3)} == {"context.injection"}
    assert not any(node.kind == "epoch.summary" for node in found.nodes.values())


def test_boundaries_without_an_id_or_with_the_first_epochs_are_named_by_place() -> None:
    rows = Rows().file()
    rows.prompt("u1", "r1")
    reset(rows, None)
    reset(rows, "0")
    found = assemble(rows.rows())
    assert [name for name, node in found.nodes.items() if node.kind == "epoch"] == [
        "epoch/main/0",
        "epoch/main/at_1_2",
        "epoch/main/at_1_3",
    ]
