"""Every name the model can emit. A name that is not here appears in no landed file and no round."""

from typing import Final

STREAM_MAIN: Final = "main"

FLAGS: Final = (
    "synthetic",
    "context_reset",
    "reset_summary",
    "finished",
    "external_input",
    "injected",
    "child_result",
    "error",
    "launch_ack",
    "turn_duration",
    "command",
    "notice",
    "auxiliary",
    "inferred",
)
"""Record flags, in the order they are written."""

ROLES: Final = (
    "id",
    "parent",
    "call",
    "run",
    "continues",
    "tool",
    "child",
    "batch",
    "started_by",
    "label",
    "from",
    "time",
    "trigger",
    "model",
    "usage",
    "request",
    "env",
)
"""Record fields an adapter fills."""

TRIGGERS: Final = ("external", "notification", "unknown")

PART_KINDS: Final = ("text", "reasoning", "call", "result", "media", "data", "unknown")

PART_STATES: Final = ("available", "truncated", "redacted", "omitted", "unavailable")

CONTAINERS: Final = ("session", "stream", "epoch", "talk", "run", "segment")
"""Node kinds that hold others; every other node is a step."""

STEPS: Final = (
    "message.external",
    "message.assistant",
    "message.synthetic",
    "context.injection",
    "llm.call",
    "thinking",
    "tool",
    "agent.call",
    "agent.launch_ack",
    "agent.output",
    "runtime.notification",
    "epoch.boundary",
    "epoch.summary",
    "error.api",
    "control.command",
    "turn.duration",
    "control.notice",
)

RESERVED_STEPS: Final = ("control.interrupt", "control.permission")
"""Kinds the model names and no adapter's records produce yet."""

RELATIONS: Final = (
    "starts",
    "reports",
    "ends_with",
    "follows",
    "summarizes",
    "result_of",
    "in_segment",
)

RESERVED_RELATIONS: Final = ("retries", "cancels")

UNRESOLVED: Final = (
    "tool_result",
    "tool_use",
    "child_stream",
    "spawn_call",
    "spawn_of_child",
    "notified_child",
    "epoch_continuation",
)
"""Kinds of open reference."""

GLOSSARY: Final = tuple(
    dict.fromkeys(
        (
            *CONTAINERS,
            *STEPS,
            *RESERVED_STEPS,
            *RELATIONS,
            *RESERVED_RELATIONS,
            *UNRESOLVED,
            *ROLES,
            *FLAGS,
        )
    )
)
"""The names a glossary must have an entry for."""
