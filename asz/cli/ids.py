"""Ids on the command line: whole, or as much of their start as makes them unique."""

from collections.abc import Collection
from typing import Final

from asz.errors import NotFoundError

_SHOWN: Final = 5


def resolve(given: str, known: Collection[str], what: str) -> str:
    """The one of ``known`` that ``given`` names.

    :param what: what the ids are of, for the message: ``session``, ``record``.
    :raises NotFoundError: none, or several.
    """
    if given in known:
        return given
    found = sorted(one for one in known if given and one.startswith(given))
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(f"no {what} has an id that is or begins with {given!r}")
    shown = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    raise NotFoundError(
        f"{len(found)} {what}s have an id that begins with {given!r}: {shown}; give more of it"
    )
