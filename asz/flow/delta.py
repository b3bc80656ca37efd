"""What one round has to say: the difference between a fold and a newer assembly."""

from typing import TypeVar

from asz.assembly.model import Entities, Node, Relation, Unresolved
from asz.flow.sf import Frames

_E = TypeVar("_E", Node, Relation, Unresolved)


def difference(before: Entities, after: Entities, number: int) -> Frames:
    """The frames that turn ``before`` into ``after``, sorted.

    Entities of ``after`` get their revision: the round ``number`` when it writes them, else the one
    they had.
    """
    frames = Frames(
        _changed(before.nodes, after.nodes, number),
        _changed(before.relations, after.relations, number),
        _changed_references(before.unresolved, after.unresolved, number),
    )
    frames.nodes += [
        Node(name, number, tombstone=True) for name in before.nodes if name not in after.nodes
    ]
    frames.relations += [
        Relation(name, number, tombstone=True)
        for name in before.relations
        if name not in after.relations
    ]
    frames.sort()
    return frames


def _changed(before: dict[str, _E], after: dict[str, _E], number: int) -> list[_E]:
    changed = []
    for name, entity in after.items():
        old = before.get(name)
        if old is not None:
            entity.revision = old.revision
            if entity == old:
                continue
        entity.revision = number
        changed.append(entity)
    return changed


def _changed_references(
    before: dict[str, Unresolved], after: dict[str, Unresolved], number: int
) -> list[Unresolved]:
    """A reference that assembly no longer produces is written once more, resolved; it may open again."""
    resolved = [
        Unresolved(name, number, old.kind, old.ref, old.reason, "resolved")
        for name, old in before.items()
        if name not in after and old.state != "resolved"
    ]
    return _changed(before, after, number) + resolved
