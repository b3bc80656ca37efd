"""What Claude Code calls each name of the model, and where it writes it.

A name without a native word is one that asz derives: the runtime has no such thing on disk.
"""

from typing import Final

from asz_hookspecs import Term

_TRANSCRIPT: Final = "transcript line"
_NOT_READ: Final = "the runtime has a word for it; asz does not read it yet"

_STRUCTURE: Final = (
    Term("session", "session", "file name <session id>.jsonl; sessionId"),
    Term(
        "stream",
        "main transcript, agent",
        "<session id>.jsonl; agent-<agent id>.jsonl",
        "membership comes from the file a line is in, never from isSidechain or agentId",
    ),
    Term("epoch", "", "", "what lies between two compactions; see epoch.boundary"),
    Term("talk", "", "", "derived from promptId and origin.kind"),
    Term("run", "promptId", _TRANSCRIPT, "one prompt cycle; keyed by stream and promptId together"),
    Term("segment", "", "", "derived from pauses between talks"),
)

_STEPS: Final = (
    Term(
        "message.external",
        "prompt",
        "user line with origin.kind human; attachment queued_command with commandMode prompt",
        "before 2.1.200 typed prompts state no origin and are inferred",
    ),
    Term("message.assistant", "text block", "assistant line, message.content"),
    Term(
        "message.synthetic",
        "<synthetic>",
        "message.model",
        "text the runtime wrote in the assistant's place; never agent output",
    ),
    Term(
        "context.injection",
        "attachment, isMeta",
        _TRANSCRIPT,
        "the instruction preamble sent to the provider is on no line and cannot be supplied",
    ),
    Term(
        "llm.call",
        "message.id",
        "assistant lines",
        "neither the request as sent nor duration and cost of a call are on disk",
    ),
    Term(
        "thinking",
        "thinking, redacted_thinking",
        "assistant line, message.content",
        "unavailable where the runtime kept no text; the signature is not landed",
    ),
    Term(
        "tool",
        "tool_use, tool_result",
        "message.content of an assistant line and of a user line",
        "as a record's role: toolUseResult.toolUseId or the notification's <tool-use-id>; execution"
        " time and what a shell command changed are not on disk",
    ),
    Term(
        "agent.call",
        "Agent, Skill, Workflow",
        "tool_use whose result or run started an agent",
        "told by what came out of the call, never by the tool's name; Task before 2.1.63",
    ),
    Term("agent.launch_ack", "async_launched", "toolUseResult.status"),
    Term(
        "agent.output",
        "result",
        "an agent's last response; result line of journal.jsonl",
    ),
    Term(
        "runtime.notification",
        "task-notification",
        "origin.kind; attachment.origin.kind",
        "its ids are read where the content is a string with <task-notification>",
    ),
    Term("epoch.boundary", "compact_boundary", "subtype of a system line"),
    Term("epoch.summary", "isCompactSummary", "user line whose parentUuid is a compact_boundary"),
    Term("error.api", "api_error", "subtype of a system line", "retry fields are not read"),
    Term("control.command", "local_command", "subtype of a system line"),
    Term("turn.duration", "turn_duration", "subtype of a system line"),
    Term("control.notice", "system", "any other subtype of a system line, or none"),
    Term("control.interrupt", "[Request interrupted by user]", "text of a user line", _NOT_READ),
    Term("control.permission", "permission-mode", "type of a line without an id", _NOT_READ),
)

_RELATIONS: Final = (
    Term(
        "starts",
        "agentId, runId",
        "toolUseResult; journal.jsonl; <task-notification> naming call and agent",
        "exact from a result or a notification; strong inference through a run's journal",
    ),
    Term("reports", "<task-id>, <tool-use-id>", "<task-notification>"),
    Term("ends_with", "", "", "from an agent's stream to its output"),
    Term("follows", "", "", "from an epoch to the one before it in its stream"),
    Term("summarizes", "parentUuid", "line with isCompactSummary"),
    Term("result_of", "", "", "from an agent's output to the one call that started it"),
    Term("in_segment", "", "", "from a talk to its segment"),
    Term("retries", "", "", "which request a retry repeats is not on disk"),
    Term("cancels", "interrupt", "text of a user line", _NOT_READ),
)

_OPEN: Final = (
    Term("tool_result", "", "", "a tool_use that has no tool_result, or several"),
    Term("tool_use", "", "", "a tool_result whose tool_use is on no line"),
    Term("child_stream", "", "", "an agent that was announced and has no transcript"),
    Term("spawn_call", "", "", "a workflow run whose launch is on no line"),
    Term("spawn_of_child", "", "", "an agent's transcript that nothing names"),
    Term("notified_child", "", "", "a notification for an agent that has no transcript"),
    Term("epoch_continuation", "", "", "a logicalParentUuid that names no line"),
)

_ROLES: Final = (
    Term("id", "uuid", _TRANSCRIPT, "a quarter of main lines have none"),
    Term("parent", "parentUuid", _TRANSCRIPT),
    Term("call", "message.id", "assistant line", "requestId groups wrongly and is not used for it"),
    Term("continues", "logicalParentUuid", "compact_boundary line"),
    Term(
        "child",
        "agentId, <task-id>",
        "toolUseResult; <task-notification>; journal.jsonl; sidecar's file name",
    ),
    Term("batch", "runId", "toolUseResult; names of run directories, manifests and scripts"),
    Term("started_by", "parentAgentId", "agent-<agent id>.meta.json"),
    Term(
        "label",
        "aiTitle, description, name, workflowName",
        "title line; sidecar; manifest; result line of journal.jsonl",
        "a journal's result is named by its surface, summary, or verdict and refuted claim",
    ),
    Term("from", "type", _TRANSCRIPT, "external also covers tool results and isMeta lines"),
    Term("time", "timestamp", _TRANSCRIPT, "out of order on some lines; nothing is ordered by it"),
    Term("trigger", "origin.kind", "transcript line; attachment.origin", "an open set of values"),
    Term("model", "message.model", "assistant line"),
    Term("usage", "message.usage", "assistant line", "of a call without stop_reason it is a stub"),
    Term("request", "requestId", "assistant line"),
    Term(
        "env",
        "cwd, gitBranch, version, entrypoint, userType, slug",
        _TRANSCRIPT,
        "cwd and gitBranch change from line to line",
    ),
)

_FLAGS: Final = (
    Term("synthetic", "<synthetic>", "message.model"),
    Term("context_reset", "compact_boundary", "subtype of a system line"),
    Term("reset_summary", "isCompactSummary", "user line"),
    Term("finished", "stop_reason", "message of an assistant line", "no marker of the last line"),
    Term("external_input", "human, sdk, prompt", "origin.kind; promptSource; commandMode"),
    Term("injected", "attachment, isMeta", _TRANSCRIPT),
    Term("child_result", "completed, result", "toolUseResult.status; line of journal.jsonl"),
    Term("error", "api_error", "subtype of a system line"),
    Term("launch_ack", "async_launched", "toolUseResult.status"),
    Term("turn_duration", "turn_duration", "subtype of a system line"),
    Term("command", "local_command", "subtype of a system line"),
    Term("notice", "system", "any other subtype of a system line, or none"),
    Term(
        "auxiliary",
        "acompact-, aside_question-, aprompt_suggestion-",
        "how the agent id in a file name begins",
        "on the first record of the file",
    ),
    Term("inferred", "", "", "what older versions did not write; see version"),
)

TERMS: Final = (*_STRUCTURE, *_STEPS, *_RELATIONS, *_OPEN, *_ROLES, *_FLAGS)
