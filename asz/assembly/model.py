"""What assembly produces: nodes, relations and open references.

The structs are also the frames of a round (docs/session-flow.md), so their fields stand in the order
the format writes them. ``revision`` is 0 until a round says which one wrote the entity.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from asz.storage.rows import RecordRow
from asz_hookspecs.vocabulary import CONTAINERS

PARSER: Final = "v1"
"""Version of the rules that turn landed records into structure."""

IDLE_NS: Final = 600 * 1_000_000_000
"""A silence of the main stream longer than this opens a new activity window; nanoseconds."""

POLICY: Final = "v1+idle=10m0s"
"""Version of the rules that propose segments, with their one setting."""

EXACT: Final = "exact_unique"
"""Quality: an identifier states it, and states it once."""

STRONG: Final = "strong_inference"
"""Quality: evidence short of a statement, with no rival reading."""


class Ref(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Position of a landed record, or of one of its parts.

    ``seq`` is the landed file's sequence, ``row`` the record's line after the header from 1, ``block``
    the part's place from 0.
    """

    seq: int
    row: int
    block: int | None = None


class Node(msgspec.Struct, tag_field="t", tag="node", omit_defaults=True, gc=False):
    """One thing of the conversation, with its one containment parent."""

    id: str
    revision: int = 0
    kind: str = ""
    parent: str | None = None
    stream: str | None = None
    ref: Ref | None = None
    refs: tuple[Ref, ...] = ()
    attrs: dict[str, Any] = {}
    tombstone: bool = False


class Relation(
    msgspec.Struct,
    tag_field="t",
    tag="relation",
    omit_defaults=True,
    gc=False,
    rename={"from_": "from"},
):
    """A link between two nodes that is not containment."""

    id: str
    revision: int = 0
    type: str = ""
    from_: str = ""
    to: str = ""
    quality: str = ""
    via: str = ""
    evidence: tuple[Ref, ...] = ()
    tombstone: bool = False


class Unresolved(msgspec.Struct, tag_field="t", tag="unresolved", omit_defaults=True, gc=False):
    """A reference whose other end has not landed, or is not the only candidate."""

    id: str
    revision: int = 0
    kind: str = ""
    ref: str = ""
    reason: str = ""
    state: str = ""
    """``open``, or ``resolved`` once assembly no longer produces it."""
    tombstone: bool = False


class Tokens(msgspec.Struct, frozen=True):
    """Token counts of finished calls, each call counted by its last fragment."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(slots=True)
class Facts:
    """What a list shows of a conversation. Times are nanoseconds since the epoch."""

    title: str | None = None
    from_time: int | None = None
    through_time: int | None = None
    talks: int = 0
    steps: int = 0
    streams: int = 0
    segments: int = 0
    unresolved: int = 0
    tokens: Tokens = field(default_factory=Tokens)


@dataclass(slots=True)
class Entities:
    """Everything of a conversation by id."""

    nodes: dict[str, Node] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    unresolved: dict[str, Unresolved] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """How many nodes are of one kind."""
        return sum(1 for node in self.nodes.values() if node.kind == kind)

    def count_steps(self) -> int:
        """How many nodes are steps: everything that only holds others is left out."""
        return sum(1 for node in self.nodes.values() if node.kind not in _HOLDERS)

    def count_open(self) -> int:
        """How many references are open."""
        return sum(1 for entry in self.unresolved.values() if entry.state == "open")


_HOLDERS: Final = frozenset(CONTAINERS)


@dataclass(slots=True)
class Structure(Entities):
    """The result of one assembly: all of a session's structure as its landed files stand."""

    session: str = ""
    conversation: str = ""
    through_seq: int = 0
    facts: Facts = field(default_factory=Facts)


def ref_of(record: RecordRow) -> Ref:
    """Where a record landed."""
    return Ref(record.seq, record.row)


def position(record: RecordRow) -> dict[str, int]:
    """Where a record landed, as a node attribute holds it."""
    return {"seq": record.seq, "row": record.row}
