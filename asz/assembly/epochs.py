"""Stage 6: context epochs, cut only at a record that resets the context, in landed order.

Times cannot order a boundary: its summary is always stamped earlier than the boundary itself.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.evidence import Evidence
from asz.assembly.model import EXACT, Node, position, ref_of
from asz.storage.rows import FLAG_BITS, RecordRow

_RESET: Final = FLAG_BITS["context_reset"]
VIA_RESET: Final = "explicit context reset"


@dataclass(slots=True)
class Epoch:
    """One context of one stream."""

    id: str
    stream: str
    first: RecordRow
    boundary: RecordRow | None
    """The reset that opened it; ``None`` for a stream's opening context."""


@dataclass(slots=True)
class Epochs:
    """Every epoch, by stream in order."""

    by_stream: dict[str, list[Epoch]]
    _starts: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def at(self, stream: str, record: RecordRow) -> Epoch:
        """The epoch of ``stream`` that a record lies in."""
        epochs = self.by_stream[stream]
        if len(epochs) == 1:
            return epochs[0]
        starts = self._starts.get(stream)
        if starts is None:
            starts = [(epoch.first.seq, epoch.first.row) for epoch in epochs]
            self._starts[stream] = starts
        place = bisect_right(starts, (record.seq, record.row)) - 1
        return epochs[max(place, 0)]


def cut(evidence: Evidence) -> Epochs:
    """The epochs of every stream; one whose first record is a reset has none before it."""
    by_stream: dict[str, list[Epoch]] = {}
    for name, stream in evidence.streams.items():
        epochs: list[Epoch] = []
        first = stream.records[0] if stream.records else stream.first
        if not (stream.records and first.flags & _RESET):
            epochs.append(Epoch(ids.epoch(name, None), name, first, None))
        epochs += [
            Epoch(ids.epoch(name, record), name, record, record)
            for record in stream.records
            if record.flags & _RESET
        ]
        by_stream[name] = epochs
    return Epochs(by_stream)


def write(draft: Draft, evidence: Evidence, epochs: Epochs) -> None:
    """Epoch nodes, ``follows``, and where a boundary says the new context resumes from."""
    for name, own in epochs.by_stream.items():
        for before, epoch in zip([None, *own], own, strict=False):
            attrs = _continuation(draft, evidence, epoch.boundary)
            parent = ids.stream(name)
            draft.add(Node(epoch.id, 0, "epoch", parent, name, ref_of(epoch.first), (), attrs))
            if before is not None:
                draft.relate(
                    "follows",
                    epoch.id,
                    before.id,
                    quality=EXACT,
                    via=VIA_RESET,
                    evidence=(ref_of(epoch.first),),
                )


def _continuation(draft: Draft, evidence: Evidence, boundary: RecordRow | None) -> dict[str, Any]:
    """The record id a boundary states, and its place when that record has landed."""
    if boundary is None or boundary.continues is None:
        return {}
    target = evidence.by_id.get(boundary.continues)
    if target is None:
        draft.open(
            "epoch_continuation",
            boundary.continues,
            "the record that a context reset resumes from has not landed",
        )
        return {"continues_from": boundary.continues}
    return {"continues_from": boundary.continues, "continues_at": position(target)}
