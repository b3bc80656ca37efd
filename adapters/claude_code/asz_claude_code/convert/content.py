"""Content of a message to parts: one part for each block, in order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from asz_claude_code.convert.lenient import has_surrogate
from asz_claude_code.convert.read import Blocks, Reader, read_blocks, read_items, read_text
from asz_claude_code.convert.shapes import Block, ImageSource
from asz_hookspecs import Dropped, Part

NULL: Final = b"null"

_SOURCE: Final = Reader(ImageSource)
_SIGNATURE_WHY: Final = "only its provider can verify it"
_CALLER_WHY: Final = "how the runtime routed the call"


@dataclass(slots=True)
class Content:
    """What the content of one record became."""

    parts: list[Part] = field(default_factory=list)
    beside: list[Part] = field(default_factory=list)
    """Parts that go after the content: bytes kept that no part of it holds."""
    dropped: list[Dropped] = field(default_factory=list)
    results: dict[int, bytes] = field(default_factory=dict)
    """Raw content of each tool result that is not text alone, by position; it needs a place."""


def text_size(text: str) -> int:
    """UTF-8 length; a lone surrogate counts three bytes, as U+FFFD does."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def text_part(text: str, raw: bytes) -> Part:
    """Readable text, with its source when the text cannot say it all."""
    part = Part("text", text=text, size=text_size(text))
    if not text.isascii() and has_surrogate(text):
        part.raw = raw
    return part


def data_part(raw: bytes) -> Part:
    """A piece of the source as it stands."""
    return Part("data", data=raw, size=len(raw))


def read_content(raw: bytes) -> Content:
    """The parts of ``message.content``.

    :param raw: its raw JSON, not empty.
    """
    first = raw[:1]
    if first == b"[":
        return _from_blocks(raw)
    if first == b'"':
        return Content([text_part(read_text(raw), raw)])
    return Content([Part("unknown", raw=raw, text="content is neither text nor a list")])


def _from_blocks(raw: bytes) -> Content:
    read = read_blocks(raw)
    out = Content()
    sources = read.sources
    for index, block in enumerate(read.blocks):
        convert = _CONVERTERS.get(block.type)
        part = convert(block, out) if convert else None
        if part is None:
            sources = sources or read_items(raw)
            out.parts.append(Part("unknown", raw=sources[index], text=_why_unknown(block)))
            continue
        out.parts.append(part)
        _keep(read, index, part, out)
    return out


def _why_unknown(block: Block) -> str:
    if block.type in _CONVERTERS:
        return f"{block.type} block without its content inline"
    return f"content block of type {block.type[:60]}" if block.type else "not a content block"


def _keep(read: Blocks, index: int, part: Part, out: Content) -> None:
    """Whatever of a block, read leniently, its part does not hold goes beside it."""
    if read.sources is None or read.kept is None:
        return
    if part.text is not None and has_surrogate(part.text):
        part.raw = read.sources[index]
    out.beside += read.kept[index]


# ---------------------------------------------------------------- one converter a block type


def _text(block: Block, out: Content) -> Part | None:
    if block.text is None:
        return None
    citations = bytes(block.citations)
    if citations not in (b"", NULL):
        out.beside.append(data_part(citations))
    return Part("text", text=block.text, size=text_size(block.text))


def _thinking(block: Block, out: Content) -> Part:
    signature = bytes(block.signature)
    if len(signature) > 2 and signature != NULL:
        out.dropped.append(Dropped("reasoning signature", _string_size(signature), _SIGNATURE_WHY))
    if not block.thinking:
        return Part("reasoning", state="unavailable")
    return Part("reasoning", text=block.thinking, size=text_size(block.thinking))


def _redacted(block: Block, _: Content) -> Part:
    return Part("reasoning", state="redacted", size=_string_size(bytes(block.data)))


def _call(block: Block, out: Content) -> Part:
    caller = bytes(block.caller)
    if caller:
        out.dropped.append(Dropped("caller", len(caller), _CALLER_WHY))
    given = bytes(block.input)
    return Part("call", id=block.id or None, name=block.name, data=given or None, size=len(given))


def _result(block: Block, out: Content) -> Part:
    raw = bytes(block.content)
    text, whole = _result_text(raw)
    if not whole:
        out.results[len(out.parts)] = raw
    return Part(
        "result", of=block.tool_use_id or None, failed=block.is_error, text=text, size=len(raw)
    )


def _result_text(raw: bytes) -> tuple[str | None, bool]:
    """The text of a result's content, and whether that is all there is."""
    first = raw[:1]
    if first == b'"':
        return read_text(raw), True
    if first != b"[":
        return None, raw in (b"", NULL)
    blocks = read_blocks(raw).blocks
    texts = [block.text for block in blocks if block.type == "text" and block.text is not None]
    return "\n".join(texts) if texts else None, len(texts) == len(blocks) > 0


def _image(block: Block, _: Content) -> Part | None:
    source = _SOURCE.piece(bytes(block.source))
    data = bytes(source.data)
    if source.type != "base64" or data[:1] != b'"':
        return None
    return Part("media", media=source.media_type, data=data, size=_string_size(data))


def _string_size(raw: bytes) -> int:
    """UTF-8 length of the value of a raw JSON string; of another value its raw length."""
    if raw[:1] != b'"':
        return len(raw)
    return text_size(read_text(raw)) if b"\\" in raw else len(raw) - 2


_CONVERTERS: Final[dict[str, Callable[[Block, Content], Part | None]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "server_tool_use": _call,
    "tool_result": _result,
    "image": _image,
}
