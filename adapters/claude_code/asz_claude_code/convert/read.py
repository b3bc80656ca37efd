"""Reading raw JSON into shapes: the fast way, else the lenient one.

msgspec checks all of a line, also what it skips, and stops at the first thing a strict parser refuses;
then the same piece is read again leniently, so that no identifier is lost with it.
"""

from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from asz_claude_code.convert.lenient import fill, fill_blocks
from asz_claude_code.convert.scan import NotJsonError, check_object, items, string
from asz_claude_code.convert.shapes import Block
from asz_hookspecs import Part

Shape = TypeVar("Shape", bound=msgspec.Struct)

REFUSED: Final = (msgspec.DecodeError, RecursionError)
"""What msgspec raises; ``RecursionError`` for nesting about a thousand deep."""

_BLOCKS: Final = msgspec.json.Decoder(list[Block])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT: Final = msgspec.json.Decoder(str)
_NOTHING: Final[tuple[Part, ...]] = ()


class Blocks(NamedTuple):
    """A content list."""

    blocks: list[Block]
    sources: list[bytes] | None = None
    """Raw source of each block, when it was read leniently."""
    kept: list[list[Part]] | None = None
    """What could not be read of each block, when it was read leniently."""


class Reader(Generic[Shape]):
    """Reads one shape."""

    def __init__(self, shape: type[Shape]) -> None:
        self._shape = shape
        self._decode = msgspec.json.Decoder(shape).decode
        self._default = shape()

    def record(self, raw: bytes) -> tuple[Shape, tuple[Part, ...]]:
        """A whole source record, and what of it could not be read.

        :raises NotJsonError: it is not UTF-8, or no JSON object in any parser's eyes.
        """
        if not raw.isascii():  # msgspec does not look into what it skips
            try:
                raw.decode()
            except UnicodeDecodeError:
                raise NotJsonError("not UTF-8") from None
        try:
            return self._decode(raw), _NOTHING
        except REFUSED:
            return self.leniently(raw)

    def leniently(self, raw: bytes) -> tuple[Shape, tuple[Part, ...]]:
        """As ``record``, the slow way, which also keeps what is written twice.

        :raises NotJsonError: it is no JSON object in any parser's eyes.
        """
        check_object(raw)
        shape, kept = fill(self._shape, raw)
        return shape, tuple(kept)

    def piece(self, raw: bytes) -> Shape:
        """A piece of a record that was read already; all defaults when it is no object. Not to be
        changed."""
        if raw[:1] != b"{":
            return self._default
        try:
            return self._decode(raw)
        except REFUSED:
            return fill(self._shape, raw)[0]


def read_blocks(raw: bytes) -> Blocks:
    """The content blocks of a raw array."""
    try:
        return Blocks(_BLOCKS.decode(raw))
    except REFUSED:
        filled = fill_blocks(raw)
        return Blocks(
            [block for block, _, _ in filled],
            [source for _, source, _ in filled],
            [kept for _, _, kept in filled],
        )


def read_items(raw: bytes) -> list[bytes]:
    """The raw items of a raw array."""
    try:
        return [bytes(item) for item in _ITEMS.decode(raw)]
    except REFUSED:
        return list(items(raw))


def read_text(raw: bytes) -> str:
    """The value of a raw JSON string; it may hold lone surrogates."""
    try:
        return _TEXT.decode(raw)
    except REFUSED:
        return string(raw)
