"""What each content block becomes."""

from typing import Any

import pytest

from asz_hookspecs import Part

from .lines import assistant, dump, kinds, line, only_part, record, result, text, user

PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"},
}


def test_content_as_text() -> None:
    part = only_part(record(user("réseau")))
    assert part == Part("text", text="réseau", size=7)


def test_text_block() -> None:
    assert only_part(record(assistant(text("hi")))) == Part("text", text="hi", size=2)


def test_citations_of_a_text_are_kept() -> None:
    cited = {**text("hi"), "citations": [{"url": "https://example.org"}]}
    found = record(assistant(cited, text("there")))
    assert kinds(found) == ["text", "text", "data"]
    assert found.parts[2].data == dump(cited["citations"])


def test_thinking_with_text() -> None:
    found = record(assistant({"type": "thinking", "thinking": "hm", "signature": "c2ln"}))
    assert only_part(found) == Part("reasoning", text="hm", size=2)
    signature = found.dropped[0]
    assert (signature.what, signature.size) == ("reasoning signature", 4)
    assert len(signature.why) <= 40


def test_thinking_without_text_is_unavailable() -> None:
    found = record(assistant({"type": "thinking", "thinking": "", "signature": ""}))
    assert only_part(found) == Part("reasoning", state="unavailable")
    assert [dropped.what for dropped in found.dropped] == ["envelope"]


def test_redacted_thinking() -> None:
    found = record(assistant({"type": "redacted_thinking", "data": "AAAA"}))
    assert only_part(found) == Part("reasoning", state="redacted", size=4)


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use"])
def test_tool_use_keeps_its_input_as_it_stands(kind: str) -> None:
    given = b'{"n": 1.50,"n":1e2, "s":"\\u00e9\\/"}'
    raw = (
        b'{"type":"assistant","message":{"id":"m","content":[{"type":"%s","id":"t1","name":"Bash",'
        b'"input":%s,"caller":{"type":"direct"}}]}}' % (kind.encode(), given)
    )
    found = record(raw)
    assert only_part(found) == Part("call", id="t1", name="Bash", data=given, size=len(given))
    assert found.dropped[0][:2] == ("caller", len(b'{"type":"direct"}'))


def test_result_text_and_outcome_side_by_side() -> None:
    outcome = {"stdout": "full output", "stderr": ""}
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "cut", "is_error": False}
    part = only_part(record(user([block], toolUseResult=outcome)))
    assert (part.of, part.failed, part.text) == ("t1", False, "cut")
    assert (part.data, part.size) == (dump(outcome), len(b'"cut"'))


def test_nothing_is_said_of_success_when_the_block_is_silent() -> None:
    assert only_part(record(result("x"))).failed is None


@pytest.mark.parametrize("outcome", ["Error: no", [{"type": "text", "text": "mcp"}], 7])
def test_outcome_of_any_type_is_kept(outcome: Any) -> None:
    part = only_part(record(result("x", outcome)))
    assert (part.text, part.data) == ("x", dump(outcome))


def test_null_outcome_is_none() -> None:
    assert only_part(record(result("x", None))).data is None


def test_result_text_of_a_list() -> None:
    part = only_part(record(result([text("one"), text("two")])))
    assert (part.text, part.data) == ("one\ntwo", None)


@pytest.mark.parametrize(
    "content",
    [
        [PICTURE],
        [{"type": "tool_reference", "tool_name": "Monitor"}],
        [],
        {"odd": 1},
        ["bare"],
    ],
)
def test_result_without_text_keeps_its_content(content: Any) -> None:
    part = only_part(record(result(content)))
    assert (part.text, part.data, part.size) == (None, dump(content), len(dump(content)))


def test_content_moves_aside_for_the_outcome() -> None:
    outcome = {"matches": ["Monitor"]}
    content = [{"type": "tool_reference", "tool_name": "Monitor"}]
    found = record(result(content, outcome))
    assert kinds(found) == ["result", "data"]
    assert found.parts[0].data == dump(outcome)
    assert found.parts[1].data == dump(content)


def test_a_picture_beside_text_is_not_lost() -> None:
    part = only_part(record(result([text("see"), PICTURE])))
    assert part.text == "see"
    assert part.data == dump([text("see"), PICTURE])


def test_of_several_results_the_named_one_takes_the_outcome() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": name, "content": name} for name in ("t1", "t2")
    ]
    outcome = {"toolUseId": "t2", "stdout": "x"}
    first, second = record(user(blocks, toolUseResult=outcome)).parts
    assert (first.data, second.data) == (None, dump(outcome))
    first, second = record(user(blocks, toolUseResult={"stdout": "x"})).parts
    assert (first.data, second.data) == (dump({"stdout": "x"}), None)


def test_outcome_without_a_result_travels_beside() -> None:
    found = record(user("text", toolUseResult={"status": "completed", "agentId": "a1"}))
    assert kinds(found) == ["text", "data"]
    assert found.child == "a1"


def test_every_block_counts() -> None:
    found = record(user([PICTURE, text("look"), {"type": "fallback", "from": "a"}]))
    assert kinds(found) == ["media", "text", "unknown"]
    media, _, unknown = found.parts
    assert (media.media, media.data, media.size) == ("image/png", b'"iVBORw0K"', 8)
    assert unknown.raw == dump({"type": "fallback", "from": "a"})
    assert "fallback" in (unknown.text or "")


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "text"},
        {"type": ""},
        {},
        "bare words",
        7,
        None,
    ],
)
def test_a_block_that_says_nothing_readable_keeps_its_bytes(block: Any) -> None:
    found = record(user([text("a"), block]))
    assert kinds(found) == ["text", "unknown"]
    assert found.parts[1].raw == dump(block)
    assert found.parts[1].text


@pytest.mark.parametrize("content", [7, {"a": 1}, None, True])
def test_content_that_is_neither_text_nor_list(content: Any) -> None:
    part = only_part(record(user(content)))
    assert (part.k, part.raw) == ("unknown", dump(content))


# ---------------------------------------------------------------- attachments


def test_attachment_with_text_keeps_the_rest_too() -> None:
    for field in ("text", "content"):
        body = {"type": "hook_success", field: "ran", "hookName": "lint"}
        found = record(line("attachment", attachment=body))
        assert kinds(found) == ["text", "data"]
        assert (found.parts[0].text, found.parts[1].data) == ("ran", dump(body))
        assert found.flags == ("injected",)


@pytest.mark.parametrize(
    "body", [{"type": "file", "content": {"file": 1}}, {"type": "new"}, "bare", [1]]
)
def test_attachment_without_text_travels_verbatim(body: Any) -> None:
    found = record(line("attachment", attachment=body))
    assert (only_part(found).k, only_part(found).data) == ("data", dump(body))
    assert found.flags == ("injected",)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [("make it three", "make it three"), ([text("and"), PICTURE, text("beep")], "and\nbeep")],
)
def test_queued_prompt_is_input_and_readable(prompt: Any, words: str) -> None:
    body = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
    found = record(line("attachment", attachment=body))
    assert found.flags == ("external_input",)
    assert kinds(found) == ["data", "text"]
    assert found.parts[1].text == words


def test_queued_notification_is_injected() -> None:
    body = {
        "type": "queued_command",
        "prompt": "<task-notification>",
        "commandMode": "task-notification",
    }
    assert record(line("attachment", attachment=body)).flags == ("injected",)
