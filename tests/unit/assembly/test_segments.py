from typing import Any

from asz.assembly.assemble import assemble
from asz.assembly.model import Structure

from ...support.rows import Rows, call, result

MINUTE = 60
ALWAYS_OPEN = ["activity_boundary", "lateness_watermark"]


def segments(found: Structure) -> list[dict[str, Any]]:
    return [node.attrs for node in found.nodes.values() if node.kind == "segment"]


def talk(rows: Rows, name: str, *times: float | None) -> None:
    """A prompt and further records of its run, in seconds."""
    rows.prompt(name, at=times[0])
    for number, time in enumerate(times[1:]):
        rows.add(f"{name}-{number}", parent=name, at=time)


def test_more_than_ten_minutes_of_silence_open_a_window() -> None:
    rows = Rows().file()
    talk(rows, "u1", 0, 5 * MINUTE)
    talk(rows, "u2", 15 * MINUTE)
    talk(rows, "u3", 25 * MINUTE + 1)
    found = assemble(rows.rows())
    first, last = segments(found)
    assert first == {"state": "candidate", "talks": 2, "gates_unmet": [], "committable": True}
    assert last == {
        "state": "open",
        "talks": 1,
        "gates_unmet": ALWAYS_OPEN,
        "committable": False,
    }
    assert {name for name, node in found.nodes.items() if node.kind == "segment"} == {
        "segment/at_1_1",
        "segment/at_1_4",
    }
    member = found.relations["rel/in_segment/talk_main_run-u3/segment_at%5F1%5F4"]
    assert (member.quality, member.via) == ("exact_unique", "activity window")


def test_the_gap_counts_from_the_latest_record_so_far() -> None:
    rows = Rows().file()
    talk(rows, "u1", 0, 30 * MINUTE)
    talk(rows, "u2", 5 * MINUTE)
    talk(rows, "u3", 39 * MINUTE)
    assert [each["talks"] for each in segments(assemble(rows.rows()))] == [3]


def test_talks_are_taken_by_time_and_one_without_stays_behind_its_neighbour() -> None:
    rows = Rows().file()
    talk(rows, "late", 60 * MINUTE)
    talk(rows, "timeless", None)
    talk(rows, "early", 0)
    found = assemble(rows.rows())
    assert [each["talks"] for each in segments(found)] == [1, 2]
    assert "rel/in_segment/talk_main_run-timeless/segment_at%5F1%5F1" in found.relations


def test_a_tool_use_open_or_answered_outside_its_window_keeps_it_from_committing() -> None:
    rows = Rows().file()
    talk(rows, "u1", 0)
    rows.add("a1", parent="u1", at=1, parts=[call("crossing"), call("inside", 1)])
    rows.add("b1", parent="u1", at=2, parts=[result("inside")])
    talk(rows, "u2", 60 * MINUTE)
    rows.add("b2", parent="u2", at=60 * MINUTE, parts=[result("crossing")])
    talk(rows, "u3", 120 * MINUTE)
    rows.add("a2", parent="u3", at=120 * MINUTE, parts=[call("never")])
    unmet = [each["gates_unmet"] for each in segments(assemble(rows.rows()))]
    assert unmet == [
        ["no_crossing_open_operation"],
        [],
        ["activity_boundary", "no_crossing_open_operation", "lateness_watermark"],
    ]


def test_a_child_that_has_not_landed_keeps_every_window_open() -> None:
    rows = Rows().file()
    talk(rows, "u1", 0)
    rows.add("n1", parent="u1", at=1, trigger="notification", child="a9")
    talk(rows, "u2", 60 * MINUTE)
    for each in segments(assemble(rows.rows())):
        assert "no_crossing_open_operation" in each["gates_unmet"]


def test_a_child_talk_joins_the_window_that_holds_its_first_record() -> None:
    rows = Rows().file()
    talk(rows, "u1", 0, 5 * MINUTE)
    talk(rows, "u2", 60 * MINUTE)
    rows.file("inside").add("c1", at=2 * MINUTE)
    rows.file("between").add("c2", at=30 * MINUTE)
    rows.file("timeless").add("c3")
    found = assemble(rows.rows())
    members = [r for r in found.relations.values() if r.from_ in ("talk/inside", "talk/between")]
    assert [(r.from_, r.to, r.quality) for r in members] == [
        ("talk/inside", "segment/at_1_1", "strong_inference")
    ]
    assert segments(found)[0]["talks"] == 1


def test_a_conversation_without_an_id_commits_nothing() -> None:
    rows = Rows().file()
    talk(rows, "u1", 0)
    talk(rows, "u2", 60 * MINUTE)
    first, last = segments(assemble(rows.rows(), ""))
    assert first["gates_unmet"] == ["conversation_identity"]
    assert last["gates_unmet"] == [*ALWAYS_OPEN, "conversation_identity"]


def test_a_session_without_talks_has_no_segments() -> None:
    rows = Rows().file("a1")
    rows.add("c1", at=0)
    assert segments(assemble(rows.rows())) == []
