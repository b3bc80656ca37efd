"""Which rules made a chain: those of this asz, older ones or newer ones."""

import re
from typing import Final, Literal

from asz.assembly.model import PARSER, POLICY
from asz.flow.sf import RoundHeader

Rules = Literal["same", "older", "newer"]

_VERSION: Final = re.compile(r"v(\d{1,9})(?![0-9])", re.ASCII)


def rules_of(header: RoundHeader) -> Rules:
    """How the rules a round was made by compare with those of this asz.

    Whatever is neither the same nor newer counts as older: structure is derived, so what is not understood
    is made again.
    """
    if (header.parser, header.policy) == (PARSER, POLICY):
        return "same"
    newer = _version(header.parser) > _version(PARSER) or _version(header.policy) > _version(POLICY)
    return "newer" if newer else "older"


def _version(text: str) -> int:
    match = _VERSION.match(text)
    return int(match[1]) if match else 0
