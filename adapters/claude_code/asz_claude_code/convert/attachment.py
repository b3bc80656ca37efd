"""Attachments: context the runtime injected, and prompts that waited in its queue."""

from typing import Final

from asz_claude_code.convert.content import Content, data_part, text_part
from asz_claude_code.convert.read import Reader, read_blocks, read_text
from asz_claude_code.convert.shapes import Attachment

_ATTACHMENT: Final = Reader(Attachment)
_QUEUED: Final = "queued_command"
_PROMPT: Final = "prompt"


def read_attachment(raw: bytes) -> Attachment:
    """The fields of an attachment that have a role; all defaults when it is no object."""
    return _ATTACHMENT.piece(raw)


def is_queued_prompt(attachment: Attachment) -> bool:
    """Whether it is a message typed while the agent worked. The type alone also covers notifications
    that the runtime queued for itself."""
    return attachment.type == _QUEUED and attachment.command_mode == _PROMPT


def add_attachment(raw: bytes, attachment: Attachment, content: Content) -> None:
    """Its text, when it has one, and the object whole: the text alone would not say what it was."""
    for value in (bytes(attachment.text), bytes(attachment.content)):
        if value[:1] == b'"':
            content.parts.append(text_part(read_text(value), value))
            break
    content.parts.append(data_part(raw))
    if attachment.type == _QUEUED:
        _add_prompt(bytes(attachment.prompt), content)


def _add_prompt(raw: bytes, content: Content) -> None:
    """What a queued prompt says, readable: a string or the text blocks of a list."""
    if raw[:1] == b'"':
        content.beside.append(text_part(read_text(raw), raw))
    elif raw[:1] == b"[":
        blocks = read_blocks(raw).blocks
        texts = [block.text for block in blocks if block.type == "text" and block.text is not None]
        if texts:
            content.beside.append(text_part("\n".join(texts), raw))
