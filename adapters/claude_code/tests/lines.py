"""Builders of Claude Code's lines, and conversion of one or several of them."""

import json
from typing import Any

from asz_claude_code.convert import convert
from asz_hookspecs import Part, Record, Source

SESSION = "0b5ff9a0-7d0f-4a5e-9c1a-2f7f8d1f0a11"
CHILD = "a0123456789abcdef"
MODERN = "2.1.245"

MAIN = Source(src=f"-srv-tea/{SESSION}.jsonl", kind="transcript", shape="lines", stream="main")


def child_source(stream: str = CHILD, auxiliary: bool = False) -> Source:
    """A child's transcript."""
    src = f"-srv-tea/{SESSION}/subagents/agent-{stream}.jsonl"
    return Source(src=src, kind="transcript", shape="lines", stream=stream, auxiliary=auxiliary)


def dump(value: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def line(kind: str = "user", **fields: Any) -> dict[str, Any]:
    """A line with what nearly every line has."""
    common = {"type": kind, "uuid": "u1", "timestamp": "2026-09-01T10:00:00.000Z"}
    return {**common, "version": MODERN, **fields}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    """A user line."""
    return line("user", message={"role": "user", "content": content}, **fields)


def assistant(*blocks: Any, **message: Any) -> dict[str, Any]:
    """An assistant line."""
    body = {"id": "msg_1", "model": "claude-opus-5", "role": "assistant", "content": list(blocks)}
    return line("assistant", message={**body, **message})


def result(content: Any, outcome: Any = None, tool: str = "toolu_1") -> dict[str, Any]:
    """A user line that answers one tool use."""
    block = {"type": "tool_result", "tool_use_id": tool, "content": content}
    return user([block], toolUseResult=outcome)


def text(words: str) -> dict[str, str]:
    """A text block."""
    return {"type": "text", "text": words}


def records(*lines: Any, source: Source = MAIN) -> list[Record]:
    """The records of lines given as objects or as raw bytes."""
    raws = [one if isinstance(one, bytes) else dump(one) for one in lines]
    return convert(source, raws, b"").records


def record(one: Any, source: Source = MAIN) -> Record:
    """The record of one line."""
    (only,) = records(one, source=source)
    return only


def kinds(found: Record) -> list[str]:
    """What kinds of parts a record has."""
    return [part.k for part in found.parts]


def only_part(found: Record) -> Part:
    """The one part of a record."""
    (part,) = found.parts
    return part
