"""Where the stages write what they establish."""

from collections.abc import Iterable
from typing import Any

from asz.assembly import ids
from asz.assembly.model import Entities, Node, Ref, Relation, Unresolved, ref_of
from asz.storage.rows import RecordRow


class Draft:
    """The structure while it is being made."""

    def __init__(self, target: Entities) -> None:
        self.nodes = target.nodes
        self.relations = target.relations
        self.unresolved = target.unresolved

    def step(
        self,
        node_id: str,
        kind: str,
        parent: str,
        stream: str,
        record: RecordRow,
        attrs: dict[str, Any] | None = None,
    ) -> Node:
        """A node that one whole record backs."""
        node = Node(node_id, 0, kind, parent, stream, ref_of(record), (), attrs or {})
        self.nodes[node_id] = node
        return node

    def add(self, node: Node) -> None:
        """Any other node."""
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
