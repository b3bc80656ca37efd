"""The slow way to read: fills the shapes field by field from raw slices.

Taken for what msgspec refuses as a whole. A field of the wrong type is left out, and what the record
then would not say any more is handed back to be kept beside the content.
"""

import re
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from asz_claude_code.convert.scan import NotJsonError, items, members, string
from asz_claude_code.convert.shapes import Block, Count
from asz_hookspecs import Part

Shape = TypeVar("Shape", bound=msgspec.Struct)

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_COUNT: Final = msgspec.json.Decoder(Count)
_LITERALS: Final = {b"true": True, b"false": False}
_READABLE: Final = frozenset(("text", "thinking"))
"""Fields of a block that become a part's text, which keeps its own source."""


class WrongTypeError(ValueError):
    """A field's value is not of the type the field has."""


def has_surrogate(text: str) -> bool:
    """Whether ``text`` holds half of a pair, which no UTF-8 can say."""
    return _SURROGATE.search(text) is not None


def without_surrogates(text: str) -> str:
    """``text`` with each half of a pair as U+FFFD, as it lands."""
    return _SURROGATE.sub("\ufffd", text)


def fill(shape: type[Shape], raw: bytes) -> tuple[Shape, list[Part]]:
    """An object of ``shape`` from a raw JSON object, and what could not be read of it: one
    ``unknown`` part for each value of a wrong type, written twice, or with a lone surrogate.

    :raises NotJsonError: ``raw`` is no object.
    """
    kept: list[Part] = []
    return shape(**_values(shape, raw, "", kept)), kept


def fill_blocks(raw: bytes) -> list[tuple[Block, bytes, list[Part]]]:
    """Every content block of a raw array with its source and what could not be read of it.

    :raises NotJsonError: ``raw`` is no array.
    """
    out = []
    for index, item in enumerate(items(raw)):
        try:
            block, kept = fill(Block, item)
        except NotJsonError:
            block, kept = Block(), []
        for part in kept:
            part.text = f"block {index}: {part.text}"
        out.append((block, item, kept))
    return out


@cache
def _fields(shape: type[msgspec.Struct]) -> dict[str, tuple[str, Any]]:
    """Attribute and plain type of each field, by its name in the source."""
    hints = get_type_hints(shape, include_extras=True)
    return {
        info.encode_name: (info.name, _plain(hints[info.name]))
        for info in msgspec.structs.fields(shape)
    }


def _plain(annotation: Any) -> Any:
    """The type without ``None`` and without constraints."""
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    options = [option for option in get_args(annotation) if option is not NoneType]
    return _plain(options[0]) if options else annotation


def _values(shape: type[msgspec.Struct], raw: bytes, path: str, kept: list[Part]) -> dict[str, Any]:
    fields = _fields(shape)
    values: dict[str, Any] = {}
    sources: dict[str, bytes] = {}
    for key, value in members(raw):
        if key not in fields:
            continue
        name, plain = fields[key]
        where = f"{path}{key}"
        if name in sources:
            kept.append(Part("unknown", raw=sources[name], text=f"{where}: written again later"))
        sources[name] = value
        values.pop(name, None)
        if value == b"null" and plain is not msgspec.Raw:
            continue
        try:
            values[name] = _value(plain, value, where, kept)
        except (WrongTypeError, NotJsonError):
            kept.append(Part("unknown", raw=value, text=f"{where}: unexpected type"))
    return values


def _value(plain: Any, raw: bytes, where: str, kept: list[Part]) -> Any:
    if plain is msgspec.Raw:
        return msgspec.Raw(raw)
    if plain is str:
        text = string(raw)
        if has_surrogate(text) and where not in _READABLE:
            kept.append(Part("unknown", raw=raw, text=f"{where}: lone surrogate"))
        return text
    if plain is bool:
        if raw not in _LITERALS:
            raise WrongTypeError
        return _LITERALS[raw]
    if plain is int:
        try:
            return _COUNT.decode(raw)
        except msgspec.DecodeError:
            raise WrongTypeError from None
    return plain(**_values(plain, raw, f"{where}.", kept))
