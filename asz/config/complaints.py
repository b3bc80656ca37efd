"""What a pydantic model refused, as one line with file, line, key and what was expected."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from asz.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

Location = tuple[str | int, ...]


def complaint(
    model: "type[BaseModel]",
    error: "ValidationError",
    file: Path | None,
    lines: Mapping[Location, int],
    prefix: str = "",
) -> ConfigError:
    """The first thing ``model`` refused, as the error to raise.

    :param lines: line of each key by its path below what was checked.
    :param prefix: put before the key, for example ``adapters[0].``.
    """
    details = error.errors(include_url=False)
    place = _known(details[0]["loc"], lines)
    same = [item for item in details if _known(item["loc"], lines) == place]
    key = prefix + dotted(place)
    if details[0]["type"] == "missing":
        key = prefix + dotted((*place, *details[0]["loc"][len(place) :]))
    where = f"{file}:{lines.get(place, 1)}" if file else "built-in configuration"
    return ConfigError(f"{where}: {key or 'the file'}: {_what(model, same)}")


def dotted(place: Location) -> str:
    """A path of keys as a person writes it: ``adapters[0].include[1]``."""
    out = ""
    for part in place:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out


def _known(loc: Location, lines: Mapping[Location, int]) -> Location:
    """The longest part of ``loc`` the file has: pydantic adds the branches of a union to it."""
    while loc and loc not in lines:
        loc = loc[:-1]
    return loc


def _what(model: "type[BaseModel]", details: "Sequence[ErrorDetails]") -> str:
    first = details[0]
    if first["type"] == "missing":
        return "expected this key, found nothing"
    if first["type"] == "extra_forbidden":
        keys = ", ".join(_keys(model, first["loc"][:-1]))
        return (
            f"unknown key, expected one of: {keys}" if keys else "unknown key, expected none here"
        )
    expected = " or ".join(dict.fromkeys(_expected(item) for item in details))
    return f"expected {expected}, found {first['input']!r:.60}"


def _expected(item: "ErrorDetails") -> str:
    if item["type"] == "model_type":
        return "keys below it"
    cause = item.get("ctx", {}).get("error")
    text = str(cause) if cause is not None else item["msg"]
    return text.removeprefix("Input should be ").removeprefix("expected ")


def _keys(model: "type[BaseModel]", loc: Location) -> list[str]:
    """The keys ``model`` has at ``loc``."""
    found: type[BaseModel] | None = model
    for part in loc:
        if isinstance(part, str) and found is not None:
            field = found.model_fields.get(part)
            found = _model_in(field.annotation) if field else None
    return list(found.model_fields) if found else []


def _model_in(annotation: Any) -> "type[BaseModel] | None":
    if hasattr(annotation, "model_fields"):
        return annotation  # type: ignore[no-any-return]
    return next((m for m in map(_model_in, get_args(annotation)) if m is not None), None)
