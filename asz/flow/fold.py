"""The fold: rounds in order, the last writer of an id wins whole, a tombstone removes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from asz.assembly.model import Entities, Node, Relation, Unresolved
from asz.flow.sf import Round, RoundHeader

_E = TypeVar("_E", Node, Relation, Unresolved)


@dataclass(slots=True)
class Folded(Entities):
    """A conversation as its rounds tell it."""

    head: RoundHeader | None = None
    """Header of the last round that was folded; ``None`` before the first."""
    digest: str | None = None
    """Digest of that round."""

    def apply(self, round_: Round) -> None:
        """Fold one more round in."""
        _apply(self.nodes, round_.frames.nodes)
        _apply(self.relations, round_.frames.relations)
        _apply(self.unresolved, round_.frames.unresolved)
        self.head = round_.header
        self.digest = round_.digest


def fold(rounds: Iterable[Round]) -> Folded:
    """Everything the rounds establish, by id. A revision is the number of the round that wrote it last."""
    folded = Folded()
    for round_ in rounds:
        folded.apply(round_)
    return folded


def _apply(held: dict[str, _E], frames: list[_E]) -> None:
    for frame in frames:
        if frame.tombstone:
            held.pop(frame.id, None)
        else:
            held[frame.id] = frame
