"""From source records to Session Data.

The result depends on the arguments alone. What one window must tell the next is little: whether the
first record of a child stream has been met, and whether one with an id has.
"""

from collections.abc import Callable, Sequence
from typing import Final

from asz_claude_code.convert.documents import (
    convert_journal_row,
    convert_manifest,
    convert_script,
    convert_sidecar,
)
from asz_claude_code.convert.scan import NotJsonError
from asz_claude_code.convert.transcript import convert_line
from asz_claude_code.layout import TRANSCRIPT_SUFFIX
from asz_hookspecs import Converted, Record, Source, damaged
from asz_hookspecs.vocabulary import STREAM_MAIN

_BEGUN: Final = b"begun"
"""Carry of a child stream of which lines were read, none of them with an id."""
_OPENED: Final = b"opened"
"""Carry of a child stream after its first record with an id."""

_WHOLE: Final[dict[str, Callable[[bytes, Source], Record]]] = {
    "agent_meta": convert_sidecar,
    "journal": convert_journal_row,
    "workflow_manifest": convert_manifest,
    "workflow_script": convert_script,
}


def convert(source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
    """One record for each raw one; what is no JSON object becomes a damaged record with its bytes."""
    if source.kind != "transcript":
        return Converted([_whole(source, raw) for raw in records])
    if source.stream == STREAM_MAIN:
        session = source.src.rpartition("/")[2].removesuffix(TRANSCRIPT_SUFFIX)
        return Converted([_line(raw, session, opens=False) for raw in records])
    return _child(source, records, carry)


def _whole(source: Source, raw: bytes) -> Record:
    try:
        return _WHOLE[source.kind](raw, source)
    except NotJsonError as error:
        return damaged(raw, str(error))


def _line(raw: bytes, session: str | None, opens: bool) -> Record:
    try:
        return convert_line(raw, session, opens)
    except NotJsonError as error:
        return damaged(raw, str(error))


def _child(source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
    out = []
    for raw in records:
        record = _line(raw, None, opens=carry != _OPENED)
        if source.auxiliary and not carry:
            record.flags = (*record.flags, "auxiliary")
        if carry != _OPENED:
            carry = _BEGUN if record.id is None else _OPENED
        out.append(record)
    return Converted(out, carry)
