"""A structure in a scenario's own names: identifiers and positions become the names of records."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from asz.assembly.model import Entities
from asz.storage.sd import SdFile

from .builder import Scenario

_PLACE: Final = re.compile(
    r"^(think|msg|input|inject|ack|notify|boundary|summary|error|turn|command|notice)/(\d+)/(\d+)"
)
_LATER_TOOL: Final = re.compile(r"@(\d+)/(\d+)")
_SEGMENT: Final = re.compile(r"^segment/at_(\d+)_(\d+)$")
_RUN: Final = re.compile(r"^run/(?:talk|epoch)_([^_/]+)(?:_[^/]*)?/(.*)$")
_FIELDS: Final = ("kind", "parent", "stream", "ref", "refs")


@dataclass
class Shown:
    """Nodes, relations and open references by the scenario's names."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    """By type and the two ends."""
    unresolved: dict[str, str] = field(default_factory=dict)
    """``kind/ref`` to its state."""
    revisions: dict[str, int] = field(default_factory=dict)
    """Which round last wrote a node or, as ``kind/ref``, a reference."""

    def structure(self) -> tuple[object, ...]:
        """What does not depend on how many rounds it was written in."""
        return self.nodes, self.relations, self.open()

    def open(self) -> dict[str, list[str]]:
        """Open references by kind."""
        found: dict[str, list[str]] = {}
        for key, state in sorted(self.unresolved.items()):
            if state == "open":
                kind, ref = key.split("/", 1)
                found.setdefault(kind, []).append(ref)
        return found

    def parents(self) -> dict[str, str]:
        """The containment tree without segments: child to parent."""
        return {
            name: node["parent"]
            for name, node in self.nodes.items()
            if node["kind"] != "segment" and node.get("parent")
        }


class Namer:
    """Turns what asz says of one root into a scenario's names."""

    def __init__(self, scenario: Scenario, landed: list[SdFile]) -> None:
        self._names, self._session = scenario.names, scenario.session
        self._records: dict[tuple[int, int], str] = {}
        labels = scenario.labels()
        for file in landed:
            if file.header.kind == "changes":  # no structure refers to them
                continue
            for row, record in enumerate(file.records(), 1):
                name = labels[file.header.src][record.ord - 1]
                self._records[file.header.seq, row] = name

    def show(self, entities: Entities) -> Shown:
        """The whole structure."""
        shown = Shown()
        for node in entities.nodes.values():
            name = self._id(node.id)
            assert name not in shown.nodes, f"two nodes are both called {name}"
            held = msgspec.to_builtins(node)
            fields = {**held.get("attrs", {}), **{k: held[k] for k in _FIELDS if held.get(k)}}
            shown.nodes[name] = {key: self._value(value) for key, value in fields.items()}
            shown.revisions[name] = node.revision
        for relation in entities.relations.values():
            key = (relation.type, self._id(relation.from_), self._id(relation.to))
            shown.relations[key] = {
                "quality": relation.quality,
                "via": relation.via,
                "evidence": [self._value(msgspec.to_builtins(ref)) for ref in relation.evidence],
            }
        for entry in entities.unresolved.values():
            key_text = f"{entry.kind}/{self._names.shown(entry.ref)}"
            shown.unresolved[key_text] = entry.state
            shown.revisions[key_text] = entry.revision
        return shown

    def _at(self, seq: str | int, row: str | int) -> str:
        return self._records[int(seq), int(row)]

    def _id(self, text: str) -> str:
        """A node's id in names; a run's shortens to ``run/<stream>/<cycle>``, the session's to one word."""
        if text == f"session/{self._session}":
            return "session"
        text = self._names.shown(text)
        text = _PLACE.sub(lambda m: f"{m[1]}/{self._at(m[2], m[3])}", text)
        text = _LATER_TOOL.sub(lambda m: f"@{self._at(m[1], m[2])}", text)
        text = _SEGMENT.sub(lambda m: f"segment/at_{self._at(m[1], m[2])}", text)
        return _RUN.sub(r"run/\1/\2", text)

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and {"seq", "row"} <= value.keys():
            place = self._at(value["seq"], value["row"])
            return f"{place}:{value['block']}" if value.get("block") is not None else place
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(item) for item in value]
        return self._id(value) if isinstance(value, str) else value
