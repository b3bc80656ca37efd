"""The shapes of Claude Code's records: only the fields that have a role in the model.

A field whose value is kept as it stands is ``msgspec.Raw``: its value is then a slice of the source.
It is declared with an empty default and never as optional, which msgspec would decode differently.
"""

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""A token count; the limit is what every reader of JSON holds exactly."""


class Usage(Struct, gc=False):
    """``message.usage``."""

    input: Count | None = field(default=None, name="input_tokens")
    output: Count | None = field(default=None, name="output_tokens")
    cache_read: Count | None = field(default=None, name="cache_read_input_tokens")
    cache_write: Count | None = field(default=None, name="cache_creation_input_tokens")


class Message(Struct, gc=False):
    """``message``: what went to the provider or came from it."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    content: Raw = Raw()


class Origin(Struct, gc=False):
    """``origin``: who or what caused a record."""

    kind: str | None = None


class Line(Struct, rename="camel", gc=False):
    """One line of a transcript."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    prompt_id: str | None = None
    timestamp: str | None = None
    subtype: str | None = None
    is_meta: bool | None = None
    is_sidechain: bool | None = None
    is_compact_summary: bool | None = None
    origin: Origin | None = None
    prompt_source: str | None = None
    ai_title: str | None = None
    request_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    user_type: str | None = None
    slug: str | None = None
    message: Message | None = None
    attachment: Raw = Raw()
    tool_use_result: Raw = Raw()


class Block(Struct, gc=False):
    """One content block, of any type."""

    type: str = ""
    text: str | None = None
    citations: Raw = Raw()
    thinking: str | None = None
    signature: Raw = Raw()
    data: Raw = Raw()
    id: str | None = None
    name: str | None = None
    input: Raw = Raw()
    caller: Raw = Raw()
    tool_use_id: str | None = None
    content: Raw = Raw()
    is_error: bool | None = None
    source: Raw = Raw()


class ImageSource(Struct, gc=False):
    """``source`` of an image block."""

    type: str = ""
    media_type: str | None = None
    data: Raw = Raw()


class Attachment(Struct, rename="camel", gc=False):
    """``attachment``: context the runtime injected, or a prompt that waited in the queue."""

    type: str = ""
    text: Raw = Raw()
    content: Raw = Raw()
    prompt: Raw = Raw()
    command_mode: str | None = None
    origin: Origin | None = None


class Outcome(Struct, rename="camel", gc=False):
    """``toolUseResult`` when it is an object."""

    status: str | None = None
    agent_id: str | None = None
    tool_use_id: str | None = None
    run_id: str | None = None
    structured_patch: Raw = Raw()
    notebook_path: Raw = field(default=Raw(), name="notebook_path")


class FileResult(Struct, rename="camel", gc=False):
    """``toolUseResult`` of Edit, Write or NotebookEdit; the last writes its keys in another case."""

    type: str | None = None
    file_path: str | None = None
    structured_patch: Raw = Raw()
    original_file: Raw = Raw()
    old_string: Raw = Raw()
    new_string: Raw = Raw()
    replace_all: bool | None = None
    content: Raw = Raw()
    edits: Raw = Raw()
    error: str | None = None
    notebook_path: str | None = field(default=None, name="notebook_path")
    original_notebook: Raw = field(default=Raw(), name="original_file")
    updated_notebook: Raw = field(default=Raw(), name="updated_file")


class Sidecar(Struct, rename="camel", gc=False):
    """``agent-<id>.meta.json``."""

    description: str | None = None
    name: str | None = None
    parent_agent_id: str | None = None


class Manifest(Struct, rename="camel", gc=False):
    """``wf_<run>.json``."""

    workflow_name: str | None = None


class JournalRow(Struct, rename="camel", gc=False):
    """One line of a run's journal."""

    agent_id: str | None = None
    result: Raw = Raw()


class Returned(Struct, gc=False):
    """A journal row's ``result`` when it is an object."""

    surface: str | None = None
    summary: str | None = None
    verdict: str | None = None
    claims: Raw = Raw()


class Claim(Struct, gc=False):
    """One claim of a verdict."""

    claim: str | None = None
    refuted: bool | None = None
