"""A conversation's structure as an indented text tree."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from asz.cli.text import printable

if TYPE_CHECKING:
    from asz.assembly.model import Entities, Node

Excerpt = Callable[["Node"], str]
"""The beginning of a node's text; empty when it has none."""

_WORDS: Final = ("title", "label", "name", "workflow", "role", "trigger", "state")
"""Attributes whose value says enough alone."""

_MARKS: Final = {
    "failed": (True, "failed"),
    "inferred": (True, "inferred"),
    "result": ("unavailable", "no result"),
    "returned_value": ("unavailable", "no returned value"),
}
"""Attributes worth a word when they have this value."""


def tree_lines(entities: "Entities", excerpt: Excerpt) -> Iterator[str]:
    """One line a node, children below their parent in landed order; then the open references."""
    children: dict[str | None, list[Node]] = {}
    for node in entities.nodes.values():
        parent = node.parent if node.parent in entities.nodes else None
        children.setdefault(parent, []).append(node)
    started = _started(entities)
    waiting = [(0, node) for node in _ordered(children.get(None, ()))]
    while waiting:
        depth, node = waiting.pop()
        yield "  " * depth + printable(_describe(node, started.get(node.id, ()), excerpt(node)))
        waiting += [(depth + 1, child) for child in _ordered(children.get(node.id, ()))]
    unanswered = sorted(
        (entry for entry in entities.unresolved.values() if entry.state == "open"),
        key=lambda entry: entry.id,
    )
    for entry in unanswered:
        yield printable(f"open {entry.kind} {entry.ref}: {entry.reason}")


def _ordered(nodes: "Iterable[Node]") -> "list[Node]":
    """Last first: they are taken from the end."""
    return sorted(nodes, key=_place, reverse=True)


def _place(node: "Node") -> tuple[bool, int, int, int, str]:
    ref = node.ref
    if ref is None:
        return (False, 0, 0, 0, node.id)
    block = -1 if ref.block is None else ref.block
    return (True, ref.seq, ref.row, block, node.id)


def _started(entities: "Entities") -> dict[str, list[str]]:
    """The streams that came out of each call."""
    found: dict[str, list[str]] = {}
    for relation in sorted(entities.relations.values(), key=lambda one: one.id):
        target = entities.nodes.get(relation.to)
        if relation.type == "starts" and target is not None:
            found.setdefault(relation.from_, []).append(target.stream or target.id)
    return found


def _describe(node: "Node", started: Iterable[str], text: str) -> str:
    words = [node.kind]
    if node.kind == "stream" and node.stream:
        words.append(node.stream)
    words += [str(node.attrs[name]) for name in _WORDS if name in node.attrs]
    marks = [word for name, (value, word) in _MARKS.items() if node.attrs.get(name) == value]
    if marks:
        words.append(f"({', '.join(marks)})")
    words += [f"-> {stream}" for stream in started]
    if node.ref is not None:
        words.append(f"[{node.ref.seq}:{node.ref.row}]")
    if text:
        words.append(text)
    return " ".join(words)
