import pytest

from asz.assembly.assemble import assemble
from asz.assembly.model import Structure
from asz_hookspecs.vocabulary import STEPS

from ...support.rows import Rows, call, text, thinking


def steps(found: Structure) -> dict[str, str]:
    return {node.id: node.kind for node in found.nodes.values() if node.kind in STEPS}


@pytest.mark.parametrize(
    ("flag", "step", "kind"),
    [
        ("external_input", "input/1/2", "message.external"),
        ("injected", "inject/1/2", "context.injection"),
        ("launch_ack", "ack/1/2", "agent.launch_ack"),
        ("error", "error/1/2", "error.api"),
        ("turn_duration", "turn/1/2", "turn.duration"),
        ("command", "command/1/2", "control.command"),
        ("notice", "notice/1/2", "control.notice"),
    ],
)
def test_a_flag_makes_one_step_in_the_records_run(flag: str, step: str, kind: str) -> None:
    rows = Rows().file()
    rows.add("u1", run="r1", trigger="external")
    rows.add("x", parent="u1", flags=[flag])
    found = assemble(rows.rows())
    assert steps(found) == {step: kind}
    assert found.nodes[step].parent == "run/talk_main_r1/r1"


def test_an_error_says_what_is_not_known_of_its_retries() -> None:
    rows = Rows().file()
    rows.add("x", flags=["error"])
    assert assemble(rows.rows()).nodes["error/1/1"].attrs == {"retry_state": "unavailable"}


def test_a_queued_notification_is_injected_context_and_a_notification() -> None:
    rows = Rows().file()
    rows.add("x", flags=["injected"], trigger="notification")
    assert steps(assemble(rows.rows())) == {
        "inject/1/1": "context.injection",
        "notify/1/1": "runtime.notification",
    }


def test_a_queued_prompt_of_a_peer_keeps_its_trigger() -> None:
    rows = Rows().file()
    rows.add("x", flags=["external_input"], trigger="unknown")
    assert assemble(rows.rows()).nodes["input/1/1"].attrs == {"trigger": "unknown"}


def test_every_part_is_looked_at() -> None:
    rows = Rows().file()
    rows.add("a1", from_="agent", parts=[thinking(0), text(1), call("t1", 2), text(5)])
    assert steps(assemble(rows.rows())) == {
        "think/1/1:0": "thinking",
        "msg/1/1:1": "message.assistant",
        "tool/t1": "tool",
        "msg/1/1:5": "message.assistant",
    }


def test_text_of_people_and_of_the_runtime_is_no_message_of_the_agent() -> None:
    rows = Rows().file()
    rows.add("u1", from_="external", parts=[text()])
    rows.add("u2", from_="runtime", parts=[text()])
    assert steps(assemble(rows.rows())) == {}


def test_other_files_than_transcripts_make_no_steps() -> None:
    rows = Rows().file("a1", kind="agent_meta")
    rows.add("x", flags=["notice"], parts=[text()])
    rows.file(kind="journal", batch="w1").add("y", flags=["child_result"], from_="agent")
    assert set(assemble(rows.rows()).nodes) == {"session/s1"}


def test_the_sessions_title_is_the_last_label_on_main() -> None:
    rows = Rows().file()
    rows.add(None, label="first")
    rows.add(None, label="second")
    rows.file("a1").add("c1", label="not this")
    found = assemble(rows.rows())
    assert found.nodes["session/s1"].attrs == {"title": "second"}
    assert found.facts.title == "second"


def test_a_session_of_metadata_only_has_streams_and_no_talks() -> None:
    rows = Rows().file()
    rows.add(None)
    found = assemble(rows.rows())
    assert set(found.nodes) == {"session/s1", "stream/main", "epoch/main/0"}
    assert (found.facts.talks, found.facts.steps, found.facts.streams) == (0, 0, 1)


def test_nothing_landed_is_a_session_alone() -> None:
    assert set(assemble(Rows().rows()).nodes) == {"session/s1"}
