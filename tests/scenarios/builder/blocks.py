"""What lies inside a record: content blocks, usage, attachments, notification text."""

from typing import Any

from .names import Names

Item = dict[str, Any]


def fragment_message(names: Names, item: Item) -> dict[str, Any]:
    """The ``message`` of one fragment of a provider call.

    Blocks come in the order thinking, text, tool uses, then ``blocks`` as they are. ``stop`` is the stop
    reason; without it the fragment states none, as the runtime does on all but a child's last.
    """
    content: list[dict[str, Any]] = []
    if "thinks" in item:
        content.append({"type": "thinking", "thinking": item["thinks"], "signature": "c2lnbmVk"})
    if "says" in item:
        content.append({"type": "text", "text": item["says"]})
    content += [_use(names.tool(tool), use) for tool, use in item.get("uses", {}).items()]
    content += item.get("blocks", [])
    return {
        "model": item.get("model", "claude-opus-5"),
        "id": names.call(item["call"]),
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": item.get("stop"),
        "stop_sequence": None,
        "usage": usage(item.get("usage", [4, 20])),
    }


def _use(tool: str, use: str | dict[str, Any]) -> Item:
    """A tool use: the tool's name alone, or its name to its input."""
    name, given = next(iter(use.items())) if isinstance(use, dict) else (use, {"command": "go"})
    caller = {"type": "direct"}
    return {"type": "tool_use", "id": tool, "name": name, "input": given, "caller": caller}


def usage(counts: list[int]) -> dict[str, int]:
    """A usage object from ``[input, output, cache read, cache write]``; missing ones are zero."""
    given = [*counts, 0, 0, 0, 0]
    keys = (
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
    return dict(zip(keys, given, strict=False))


def result_block(names: Names, tool: str, item: Item) -> dict[str, Any]:
    """One ``tool_result`` block; ``is_error`` is there only when the item says ``failed``."""
    block = {
        "tool_use_id": names.tool(tool),
        "type": "tool_result",
        "content": item.get("content", item.get("text", "ok")),
    }
    return {**block, "is_error": item["failed"]} if "failed" in item else block


def attachment_body(item: Item) -> dict[str, Any]:
    """An attachment: ``text``, ``content`` or the further fields in ``body``."""
    body = {"type": item["attachment"], **item.get("body", {})}
    return body | {key: item[key] for key in ("text", "content") if key in item}


def task_notification(names: Names, told: Item) -> str:
    """The text of a completion: ``agents`` and ``tasks`` become task ids, ``tool`` the tool-use id."""
    ids = [*told.get("tasks", []), *(names.agent(agent) for agent in told.get("agents", []))]
    lines = ["<task-notification>", *(f"<task-id>{task}</task-id>" for task in ids)]
    if "tool" in told:
        lines.append(f"<tool-use-id>{names.tool(told['tool'])}</tool-use-id>")
    return "\n".join([*lines, "<summary>done</summary>", "</task-notification>"])
