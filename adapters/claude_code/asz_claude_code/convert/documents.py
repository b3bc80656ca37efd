"""Sidecars, run journals, manifests and scripts: records of the runtime that travel whole."""

from typing import Final

from asz_claude_code.convert.content import data_part
from asz_claude_code.convert.read import Reader
from asz_claude_code.convert.scan import NotJsonError, items
from asz_claude_code.convert.shapes import Claim, JournalRow, Manifest, Returned, Sidecar
from asz_hookspecs import Part, Record, Source

_RUNTIME: Final = "runtime"
_SIDECAR: Final = Reader(Sidecar)
_MANIFEST: Final = Reader(Manifest)
_ROW: Final = Reader(JournalRow)
_RETURNED: Final = Reader(Returned)
_CLAIM: Final = Reader(Claim)


def convert_sidecar(raw: bytes, source: Source) -> Record:
    """``agent-<id>.meta.json``: what the runtime knew of a child when it started it.

    :raises NotJsonError: it is no JSON object.
    """
    sidecar, _ = _SIDECAR.record(raw)
    record = _whole(raw)
    record.child = source.stream
    record.started_by = sidecar.parent_agent_id or None
    record.label = sidecar.description or sidecar.name or None
    return record


def convert_journal_row(raw: bytes, source: Source) -> Record:
    """A row of a run's journal: a child that was started, or what it returned.

    :raises NotJsonError: it is no JSON object.
    """
    row, _ = _ROW.record(raw)
    record = _whole(raw)
    record.child = row.agent_id or None
    record.batch = source.batch
    result = bytes(row.result)
    if result:
        record.flags = ("child_result",)
        record.label = _name_of(_RETURNED.piece(result))
    return record


def convert_manifest(raw: bytes, source: Source) -> Record:
    """``wf_<run>.json``: a workflow run as the runtime sums it up.

    :raises NotJsonError: it is no JSON object.
    """
    manifest, _ = _MANIFEST.record(raw)
    record = _whole(raw)
    record.batch = source.batch
    record.label = manifest.workflow_name or None
    return record


def convert_script(raw: bytes, source: Source) -> Record:
    """A workflow's script; there is nothing to read in it."""
    part = Part("unknown", raw=raw, text="a program is not data")
    return Record(from_=_RUNTIME, batch=source.batch, parts=[part])


def _whole(raw: bytes) -> Record:
    return Record(from_=_RUNTIME, parts=[data_part(raw.strip(b" \t\r\n"))])


def _name_of(returned: Returned) -> str | None:
    """What a result says it is about: the child's own records never do."""
    named = returned.surface or returned.summary
    if named or not returned.verdict:
        return named or None
    claim = _first_refuted(bytes(returned.claims))
    return f"{returned.verdict}: {claim}" if claim else returned.verdict


def _first_refuted(raw: bytes) -> str | None:
    try:
        claims = [_CLAIM.piece(item) for item in items(raw)]
    except NotJsonError:
        return None
    return next((one.claim for one in claims if one.refuted and one.claim), None)
