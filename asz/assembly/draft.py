"""Where the stages write what they establish."""

from collections.abc import Iterable

from asz.assembly import ids
from asz.assembly.model import Entities, Node, Ref, Relation, Unresolved


class Draft:
    """The structure while it is being made."""

    def __init__(self, target: Entities) -> None:
        self.nodes = target.nodes
        self.relations = target.relations
        self.unresolved = target.unresolved

    def add(self, node: Node) -> None:
        """A node; its id is its own."""
        self.nodes[node.id] = node

    def relate(
        self,
        type_: str,
        from_id: str,
        to_id: str,
        *,
        quality: str,
        via: str,
        evidence: Iterable[Ref],
    ) -> None:
        """A relation; the first statement of one stands."""
        name = ids.relation(type_, from_id, to_id)
        if name not in self.relations:
            self.relations[name] = Relation(
                name, 0, type_, from_id, to_id, quality, via, tuple(evidence)
            )

    def open(self, kind: str, ref: str, reason: str) -> None:
        """An open reference; the first reason for one stands."""
        name = ids.unresolved(kind, ref)
        if name not in self.unresolved:
            self.unresolved[name] = Unresolved(name, 0, kind, ref, reason, "open")
