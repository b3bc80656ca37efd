"""What a child returned. The child owns its output: the node lies in the child's own stream."""

from typing import Any, Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.evidence import Evidence
from asz.assembly.model import EXACT, Node, ref_of
from asz.assembly.streams import MAIN, Stream
from asz.assembly.talks import Placement
from asz.storage.rows import FLAG_BITS, RecordRow

_SYNTHETIC: Final = FLAG_BITS["synthetic"]
_CHILD_RESULT: Final = FLAG_BITS["child_result"]
VIA_RESPONSE: Final = "last response"


def write(draft: Draft, placement: Placement) -> None:
    """``agent.output`` and ``ends_with`` of every stream but main.

    A run journal's result is what the child returned and stands nowhere else, so the value counts as
    seen only with one.
    """
    evidence = placement.evidence
    returned = _journal_results(evidence)
    for name, stream in evidence.streams.items():
        if stream.role == MAIN:
            continue
        response, result = _last_response(stream), returned.get(name)
        backing = [record for record in (response, result) if record is not None]
        if not backing:
            continue
        parent = placement.child_talks[name].id
        if response is not None:
            parent = placement.container(response)
        refs = tuple([ref_of(record) for record in backing])
        value = "observed_replayable" if result is not None else "unavailable"
        attrs: dict[str, Any] = {"returned_value": value}
        output = ids.output(name)
        draft.add(Node(output, 0, "agent.output", parent, name, refs[0], refs, attrs))
        draft.relate(
            "ends_with",
            ids.stream(name),
            output,
            quality=EXACT,
            via=VIA_RESPONSE,
            evidence=refs,
        )


def _journal_results(evidence: Evidence) -> dict[str, RecordRow]:
    """The last result a run journal holds for each child."""
    return {
        record.child: record
        for record in evidence.records
        if record.flags & _CHILD_RESULT
        and record.child is not None
        and evidence.kinds[record.seq] == "journal"
    }


def _last_response(stream: Stream) -> RecordRow | None:
    for record in reversed(stream.records):
        if record.from_ == "agent" and not record.flags & _SYNTHETIC:
            return record
    return None
