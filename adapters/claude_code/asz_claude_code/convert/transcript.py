"""One line of a transcript to one record."""

import re
from typing import Final

from asz_claude_code.convert.attachment import add_attachment, is_queued_prompt, read_attachment
from asz_claude_code.convert.changes import changes_part, tells_of_a_file
from asz_claude_code.convert.content import NULL, Content, data_part, read_content
from asz_claude_code.convert.outcome import place_outcome, read_outcome
from asz_claude_code.convert.read import Reader
from asz_claude_code.convert.repeats import repeats_a_key
from asz_claude_code.convert.shapes import Attachment, Line
from asz_claude_code.convert.versions import infer_child_run, infer_prompt
from asz_claude_code.layout import is_agent_id
from asz_hookspecs import Dropped, Part, Record, Usage

_LINE: Final = Reader(Line)

_FROM: Final = {
    "assistant": "agent",
    "user": "external",
    "system": "runtime",
    "attachment": "runtime",
}
_TRIGGERS: Final = {"human": "external", "task-notification": "notification"}
_SUBTYPES: Final = {
    "compact_boundary": "context_reset",
    "api_error": "error",
    "turn_duration": "turn_duration",
    "local_command": "command",
}
_SYNTHETIC: Final = "<synthetic>"
_HEADLESS: Final = "sdk"
_NOTIFICATION: Final = "<task-notification>"
_TOOL_USE_ID: Final = re.compile(r"<tool-use-id>([^<]*)</tool-use-id>")
_TASK_ID: Final = re.compile(r"<task-id>([^<]*)</task-id>")
_ENVELOPE_WHY: Final = "fields without a role in the model"


_Values = tuple[bytes, bytes, bytes]
"""The large values of a line, raw, empty for none: message content, tool result, attachment."""


def _values(line: Line) -> _Values:
    content = bytes(line.message.content) if line.message is not None else b""
    return content, bytes(line.tool_use_result), bytes(line.attachment)


def convert_line(raw: bytes, session: str | None, opens: bool) -> Record:
    """The record of a line.

    :param session: the session whose main transcript the line is of; ``None`` on a child stream.
    :param opens: whether, on a child stream, no line before it had an id.
    :raises NotJsonError: the line is no JSON object.
    """
    line, kept = _LINE.record(raw)
    values = _values(line)
    apart = values[0] or values[2]  # any other record lands whole, whatever it holds twice
    if not kept and apart and repeats_a_key(raw, *values):
        line, kept = _LINE.leniently(raw)
        values = _values(line)
    record = Record(
        id=line.uuid or None,  # an empty id is none, or records would be copies of each other
        parent=line.parent_uuid or None,
        run=line.prompt_id or None,
        label=line.ai_title or None,
        from_=_FROM.get(line.type),
        time=line.timestamp,
        request=line.request_id or None,
        env=_env(line),
    )
    attached = values[2]
    attachment = read_attachment(attached) if attached not in (b"", NULL) else None
    record.trigger = _trigger(line, attachment)
    flags = _flags(line, record, attachment)
    if "context_reset" in flags:  # what else names a logical parent resets nothing
        record.continues = line.logical_parent_uuid or None
    _fill_parts(raw, values, line, kept, attachment, record, flags, session)
    if session is not None:
        infer_prompt(line, record, record.parts, flags)
    elif opens and record.id is not None:
        infer_child_run(line, record, flags)
    record.flags = tuple(flags)
    return record


def _env(line: Line) -> dict[str, str] | None:
    env = {
        name: value
        for name, value in (
            ("cwd", line.cwd),
            ("git_branch", line.git_branch),
            ("version", line.version),
            ("entrypoint", line.entrypoint),
            ("user_type", line.user_type),
            ("slug", line.slug),
        )
        if value is not None
    }
    return env or None


def _trigger(line: Line, attachment: Attachment | None) -> str | None:
    """What caused the record, where it says so: a third of the statements are on attachments."""
    kind = line.origin.kind if line.origin is not None else None
    if kind is None and attachment is not None and attachment.origin is not None:
        kind = attachment.origin.kind
    if kind is not None:
        return _TRIGGERS.get(kind, "unknown")
    if line.prompt_source == _HEADLESS and line.type == "user" and not line.is_meta:
        return "external" if line.origin is None else None
    return None


def _flags(line: Line, record: Record, attachment: Attachment | None) -> list[str]:
    """The flags that follow from the record's own fields."""
    flags = []
    kind = line.type
    if kind == "system":
        flags.append(_SUBTYPES.get(line.subtype or "", "notice"))
    queued = attachment is not None and is_queued_prompt(attachment)
    typed = kind == "user" and record.trigger == "external" and not line.is_meta
    if queued or typed:
        flags.append("external_input")
    attaches = kind == "attachment" or attachment is not None
    if line.is_meta or (attaches and not queued):
        flags.append("injected")
    if line.is_compact_summary:
        flags.append("reset_summary")
    message = line.message
    if message is None:
        return flags
    record.call = message.id or None
    record.model = message.model
    if message.usage is not None:
        used = message.usage
        record.usage = Usage(
            used.input or 0, used.output or 0, used.cache_read or 0, used.cache_write or 0
        )
    if message.model == _SYNTHETIC:
        flags.append("synthetic")
    if kind == "assistant" and message.stop_reason:
        flags.append("finished")
    return flags


def _fill_parts(
    raw: bytes,
    values: _Values,
    line: Line,
    kept: tuple[Part, ...],
    attachment: Attachment | None,
    record: Record,
    flags: list[str],
    session: str | None,
) -> None:
    """The parts: those of the message's content and of the attachment, else the record whole."""
    content_raw, result, attached = values
    content = read_content(content_raw) if content_raw else Content()
    if record.trigger == "notification" and content_raw[:1] == b'"':
        _read_notification(content.parts[0].text or "", record)
    outcome = read_outcome(result, record, flags)
    if not content_raw and attachment is None:
        record.parts = [data_part(raw.strip(b" \t\r\n"))]
        return
    if attachment is not None:
        add_attachment(attached, attachment, content)
    answered = place_outcome(result, outcome, content)
    if session and outcome and answered and tells_of_a_file(outcome):
        changes = changes_part(result, answered, line, session)
        content.beside += [changes] if changes is not None else []
    record.parts = [*content.parts, *content.beside, *kept]
    size = len(raw) - len(content_raw) - len(attached) - len(result)
    record.dropped = [*content.dropped, Dropped("envelope", size, _ENVELOPE_WHY)]


def _read_notification(text: str, record: Record) -> None:
    """The ids in a completion notification. A task id is an agent's in one of twelve; otherwise it
    is a shell command's, a workflow's or a monitor's, and joins nothing."""
    if _NOTIFICATION not in text:
        return
    call = _TOOL_USE_ID.search(text)
    if call:
        record.tool = call[1].strip() or None
    record.child = next(filter(is_agent_id, map(str.strip, _TASK_ID.findall(text))), None)
