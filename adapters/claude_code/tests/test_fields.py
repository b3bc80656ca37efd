"""Which role each field of a line plays."""

from typing import Any

import pytest

from asz_hookspecs import Usage

from .lines import assistant, dump, kinds, line, record, result, text, user


def test_identity_place_and_time() -> None:
    found = record(
        user(
            "hello",
            uuid="U-1",
            parentUuid="P-1",
            promptId="cycle",
            timestamp="2026-09-01T10:00:00.5Z",
        )
    )
    assert (found.id, found.parent, found.run) == ("U-1", "P-1", "cycle")
    assert found.time == "2026-09-01T10:00:00.5Z"


@pytest.mark.parametrize(
    ("subtype", "continues"), [("compact_boundary", "before"), ("microcompact_boundary", None)]
)
def test_only_a_context_reset_continues_something(subtype: str, continues: str | None) -> None:
    found = record({**line("system"), "subtype": subtype, "logicalParentUuid": "before"})
    assert found.continues == continues


def test_empty_ids_are_no_ids() -> None:
    found = record(user("x", uuid="", parentUuid="", promptId=""))
    assert (found.id, found.parent, found.run) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "author"),
    [
        ("assistant", "agent"),
        ("user", "external"),
        ("system", "runtime"),
        ("attachment", "runtime"),
        ("file-history-snapshot", None),
        ("a-type-of-next-year", None),
    ],
)
def test_author_is_the_type_of_the_line(kind: str, author: str | None) -> None:
    assert record(line(kind)).from_ == author


def test_a_provider_call() -> None:
    usage = {
        "input_tokens": 4,
        "output_tokens": 15,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 100,
        "service_tier": "standard",
    }
    found = record({**assistant(text("hi"), usage=usage), "requestId": "req_1"})
    assert (found.call, found.model, found.request) == ("msg_1", "claude-opus-5", "req_1")
    assert found.usage == Usage(4, 15, 2000, 100)


def test_usage_with_null_counts() -> None:
    found = record(assistant(usage={"input_tokens": None, "output_tokens": 3}))
    assert found.usage == Usage(output=3)


@pytest.mark.parametrize(
    ("stop_reason", "finished"), [("end_turn", True), ("tool_use", True), (None, False)]
)
def test_finished_needs_a_stop_reason(stop_reason: str | None, finished: bool) -> None:
    found = record(assistant(text("x"), stop_reason=stop_reason))
    assert ("finished" in found.flags) is finished


def test_synthetic_is_told_by_the_model_alone() -> None:
    found = record({**assistant(text("API Error"), model="<synthetic>"), "requestId": "req_real"})
    assert "synthetic" in found.flags


def test_environment_is_on_every_record() -> None:
    fields = {
        "cwd": "/srv/tea",
        "gitBranch": "",
        "entrypoint": "cli",
        "userType": "external",
        "slug": "calm-fox",
    }
    expected = {
        "cwd": "/srv/tea",
        "git_branch": "",
        "version": "2.1.245",
        "entrypoint": "cli",
        "user_type": "external",
        "slug": "calm-fox",
    }
    assert record(user("x", **fields)).env == expected
    assert record(line("system", **fields)).env == expected
    assert record(b'{"type":"mode"}').env is None


@pytest.mark.parametrize(
    ("origin", "trigger"),
    [
        ({"kind": "human"}, "external"),
        ({"kind": "task-notification"}, "notification"),
        ({"kind": "peer", "from": "mina"}, "unknown"),
        ({"kind": "coordinator"}, "unknown"),
        ({}, None),
        (None, None),
    ],
)
def test_trigger_is_an_open_set(origin: Any, trigger: str | None) -> None:
    assert record(user("x", origin=origin)).trigger == trigger
    attached = {"type": "queued_command", "origin": origin}
    assert record(line("attachment", attachment=attached)).trigger == trigger


def test_origin_of_the_record_wins_over_the_attachment() -> None:
    attached = {"type": "queued_command", "origin": {"kind": "task-notification"}}
    found = record(line("attachment", attachment=attached, origin={"kind": "human"}))
    assert found.trigger == "external"


def test_headless_prompt_is_external() -> None:
    found = record(user("do it", promptSource="sdk"))
    assert found.trigger == "external"
    assert found.flags == ("external_input",)
    assert record(user("do it", promptSource="sdk", isMeta=True)).trigger is None
    assert record(user("do it", promptSource="typed")).trigger is None
    assert record(user("do it", promptSource="sdk", origin={"kind": "peer"})).trigger == "unknown"


@pytest.mark.parametrize(
    ("subtype", "flag"),
    [
        ("compact_boundary", "context_reset"),
        ("api_error", "error"),
        ("turn_duration", "turn_duration"),
        ("local_command", "command"),
        ("microcompact_boundary", "notice"),
        ("away_summary", "notice"),
        (None, "notice"),
    ],
)
def test_system_subtypes(subtype: str | None, flag: str) -> None:
    assert record(line("system", subtype=subtype, isMeta=False)).flags == (flag,)


def test_a_subtype_counts_on_system_lines_only() -> None:
    assert record(line("progress", subtype="compact_boundary")).flags == ()


def test_a_prompt_and_what_is_none() -> None:
    human = {"kind": "human"}
    assert record(user("x", origin=human)).flags == ("external_input",)
    assert record(user("x", origin=human, isMeta=True)).flags == ("injected",)
    assert record(user("x", origin={"kind": "task-notification"})).flags == ()


@pytest.mark.parametrize("value", ["true", 1, None, False])
def test_only_true_is_true(value: Any) -> None:
    found = record(user("x", isMeta=value, isCompactSummary=value))
    assert "injected" not in found.flags
    assert "reset_summary" not in found.flags


def test_compact_summary() -> None:
    found = record(user("This session is being continued", isCompactSummary=True, promptId="p"))
    assert found.flags == ("reset_summary",)


def test_title() -> None:
    found = record(b'{"type":"ai-title","aiTitle":"Tea","sessionId":"s"}')
    assert found.label == "Tea"
    assert found.id is None


@pytest.mark.parametrize(
    ("status", "flag"),
    [("async_launched", "launch_ack"), ("completed", "child_result"), ("forked", None)],
)
def test_outcome_of_a_spawn(status: str, flag: str | None) -> None:
    outcome = {"status": status, "agentId": "a1", "toolUseId": "toolu_9", "runId": "wf_run-1"}
    found = record(result("ok", outcome))
    assert found.flags == ((flag,) if flag else ())
    assert (found.child, found.batch) == ("a1", "run-1")
    assert found.tool == (None if status == "forked" else "toolu_9")


NOTICE = (
    "<task-notification>\n<task-id>b12345678</task-id>\n<task-id>a00000000000000aa</task-id>"
    "<task-id>abcdef12</task-id><tool-use-id>toolu_7</tool-use-id></task-notification>"
)


def test_notification_names_call_and_first_agent() -> None:
    found = record(user(NOTICE, origin={"kind": "task-notification"}))
    assert (found.tool, found.child) == ("toolu_7", "a00000000000000aa")


@pytest.mark.parametrize(
    "given",
    [
        user(NOTICE, origin={"kind": "human"}),
        user([text(NOTICE)], origin={"kind": "task-notification"}),
        user("<task-id>a00000000000000aa</task-id>", origin={"kind": "task-notification"}),
        line(
            "attachment",
            attachment={
                "type": "queued_command",
                "prompt": NOTICE,
                "origin": {"kind": "task-notification"},
            },
        ),
    ],
    ids=["typed by a person", "a list", "no notification", "an attachment"],
)
def test_ids_are_read_from_notifications_only(given: dict[str, Any]) -> None:
    found = record(given)
    assert (found.tool, found.child) == (None, None)


def test_an_outcome_leaves_what_only_the_notification_names() -> None:
    origin = {"kind": "task-notification"}
    found = record(user(NOTICE, origin=origin, toolUseResult={"toolUseId": "toolu_8"}))
    assert (found.tool, found.child) == ("toolu_8", "a00000000000000aa")


def test_joins_of_a_record_that_travels_whole() -> None:
    found = record(line("user", toolUseResult={"agentId": "a1", "runId": "wf_r"}))
    assert (kinds(found), found.child, found.batch) == (["data"], "a1", "r")


def test_envelope_is_what_has_no_place() -> None:
    outcome = {"stdout": "done"}
    given = result("done", outcome)
    raw = dump(given)
    (dropped,) = record(raw).dropped
    kept = len(dump(given["message"]["content"])) + len(dump(outcome))
    assert (dropped.what, dropped.size) == ("envelope", len(raw) - kept)
    assert len(dropped.why) <= 40


def test_a_record_of_another_shape_travels_whole() -> None:
    for kind in ("progress", "queue-operation", "system", "summary"):
        raw = dump(line(kind, data={"message": {"content": "inner"}}, toolUseID="x"))
        found = record(raw)
        assert [(part.k, part.data, part.size) for part in found.parts] == [("data", raw, len(raw))]
        assert found.dropped == []
        assert found.id == "u1"


def test_a_message_without_content_travels_whole() -> None:
    raw = dump(line("user", message={"role": "user"}, origin={"kind": "human"}))
    (part,) = record(raw).parts
    assert (part.k, part.data) == ("data", raw)
