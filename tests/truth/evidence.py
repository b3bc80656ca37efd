"""One session of a root, read for the truth's questions: its landed lines, its rows and its fold."""

import base64
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from asz.assembly.model import Entities, Node, Relation
from asz.flow.chain import read_chain
from asz.flow.fold import fold
from asz.storage.index import load
from asz.storage.root import Root
from asz.storage.rows import RecordRow
from asz.storage.sd import LandedPart, LandedRecord, SdFile, read_file

LINE_CLASSES = (
    "lines",
    "empty",
    "records",
    "invalid_json",
    "invalid_utf8",
    "not_object",
    "unterminated",
)


def file_kind(src: str, kind: str) -> str:
    """What the generator calls a source."""
    workflow = "/subagents/workflows/" in src
    if kind == "transcript":
        return "workflow_agent" if workflow else "agent" if "/subagents/" in src else "main"
    names = {
        "workflow_manifest": "manifest",
        "workflow_script": "script",
        "journal": "journal",
        "changes": "changes",
    }
    return names.get(kind) or ("workflow_meta" if workflow else "agent_meta")


@dataclass
class Line:
    """One landed line: where it came from, what it is, and its place."""

    src: str
    kind: str
    stream: str | None
    seq: int
    row: int
    record: LandedRecord
    damage: str | None = None
    """Class of a line that is no record."""

    @property
    def end(self) -> int:
        """Offset in the source after this line and its newline."""
        return self.record.off + self.record.size + 1


@dataclass
class Evidence:
    """Everything asz holds of a session."""

    root: Path
    session: str
    projects: Path
    entities: Entities = field(init=False)
    rows: list[RecordRow] = field(init=False)

    def __post_init__(self) -> None:
        root = Root.open(self.root, write=False)
        self.entities = fold(read_chain(root.conversation_dir(self.session)).rounds)
        self.rows = load(root.session_dir(self.session)).records

    @cached_property
    def files(self) -> list[SdFile]:
        """Landed files in ascending sequence."""
        found = [read_file(path) for path in (self.root / self.session).glob("*/*/*.sd")]
        return sorted(found, key=lambda file: file.header.seq)

    @cached_property
    def lines(self) -> list[Line]:
        """Every landed line in landed order."""
        return [line for file in self.files for line in _lines(file)]

    @cached_property
    def transcript(self) -> list[Line]:
        """Transcript lines that are records, copies too."""
        kinds = ("main", "agent", "workflow_agent")
        return [line for line in self.lines if line.kind in kinds and line.damage is None]

    @cached_property
    def originals(self) -> list[Line]:
        """Transcript records without copies: the first of each id, and all that have none."""
        seen: set[str] = set()
        found = []
        for line in self.transcript:
            if line.record.id is None or line.record.id not in seen:
                found.append(line)
            if line.record.id is not None:
                seen.add(line.record.id)
        return found

    @cached_property
    def row_at(self) -> dict[tuple[int, int], RecordRow]:
        """Index rows by position."""
        return {(row.seq, row.row): row for row in self.rows}

    @cached_property
    def line_at(self) -> dict[tuple[int, int], Line]:
        """Landed lines by position."""
        return {(line.seq, line.row): line for line in self.lines}

    def nodes(self, *kinds: str, stream: str | None = None) -> list[Node]:
        """Nodes of some kinds, in the order of what they refer to."""
        found = [
            node
            for node in self.entities.nodes.values()
            if node.kind in kinds and stream in (None, node.stream)
        ]
        return sorted(found, key=lambda node: (node.ref.seq, node.ref.row) if node.ref else (0, 0))

    def relations(self, type_: str) -> list[Relation]:
        """Relations of one type."""
        return [rel for rel in self.entities.relations.values() if rel.type == type_]

    def open(self, kind: str) -> list[str]:
        """What open references of one kind wait for."""
        entries = self.entities.unresolved.values()
        return sorted(e.ref for e in entries if e.kind == kind and e.state == "open")

    @cached_property
    def children_of(self) -> dict[str, list[Node]]:
        """Nodes by their containment parent."""
        found: dict[str, list[Node]] = defaultdict(list)
        for node in self.entities.nodes.values():
            found[node.parent or ""].append(node)
        return found


def _lines(file: SdFile) -> Iterator[Line]:
    header = file.header
    kind = file_kind(header.src, header.kind)
    for row, record in enumerate(file.records(), 1):
        damage = _damage(record) if header.kind in ("transcript", "journal") else None
        yield Line(header.src, kind, header.stream, header.seq, row, record, damage)


def _damage(record: LandedRecord) -> str | None:
    """The class of a line that landed as nothing but its bytes; ``None`` for a record."""
    if record.from_ or record.id or record.time or [part.k for part in record.parts] != ["unknown"]:
        return None
    data = part_bytes(record.parts[0])
    if not data.strip():
        return "empty"
    try:
        value = json.loads(data.decode())
    except UnicodeDecodeError:
        return "invalid_utf8"
    except ValueError:
        return "invalid_json"
    return None if isinstance(value, dict) else "not_object"


def part_bytes(part: LandedPart) -> bytes:
    """The source bytes an ``unknown`` part keeps."""
    text: str = json.loads(bytes(part.data))
    return base64.b64decode(text) if part.encoding == "base64" else text.encode()
