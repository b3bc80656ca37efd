"""Questions the cases ask of a collected root."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, Final

from asz.assembly.model import Node
from asz.storage.index import load
from asz.storage.rows import RecordRow
from asz.storage.sd import LandedRecord

from ..support.pipeline import Outcome, Pipeline

DATA: Final = Path(__file__).parent / "data"


class Case:
    """One input, copied so that it may grow, and the root it is collected into."""

    def __init__(self, name: str, home: Path, projects: str = "projects") -> None:
        self.data = DATA / name
        shutil.copytree(self.data / projects, home / "projects")
        self.pipeline = Pipeline(home, home / "projects")

    def collect(self) -> Outcome:
        """One pass that must leave nothing."""
        outcome = self.pipeline.collect()
        assert outcome.status == 0, outcome.err
        return outcome

    @property
    def session(self) -> str:
        """The one session that landed."""
        (session,) = self.pipeline.sessions()
        return session

    def transcript(self, name: str = "*") -> Path:
        """A session's main transcript."""
        (path,) = self.pipeline.projects.glob(f"*/{name}.jsonl")
        return path

    def nodes(self, kind: str, session: str | None = None) -> list[Node]:
        """Nodes of one kind in landed order."""
        nodes = self.pipeline.folded(session or self.session).nodes.values()
        found = [node for node in nodes if node.kind == kind]
        return sorted(found, key=lambda node: (node.ref.seq, node.ref.row) if node.ref else (0, 0))

    def kinds(self, session: str | None = None) -> Counter[str]:
        """How many nodes there are of each kind."""
        nodes = self.pipeline.folded(session or self.session).nodes.values()
        return Counter(node.kind for node in nodes)

    def open(self, session: str | None = None) -> dict[str, list[str]]:
        """What open references wait for, by kind."""
        found: dict[str, list[str]] = {}
        for entry in self.pipeline.folded(session or self.session).unresolved.values():
            if entry.state == "open":
                found.setdefault(entry.kind, []).append(entry.ref)
        return {kind: sorted(refs) for kind, refs in found.items()}

    def rows(self, session: str | None = None) -> dict[tuple[int, int], RecordRow]:
        """The index by position."""
        loaded = load(self.pipeline.root / (session or self.session))
        return {(row.seq, row.row): row for row in loaded.records}

    def records(self, kind: str = "transcript", session: str | None = None) -> list[LandedRecord]:
        """Landed records of one kind in landed order."""
        files = self.pipeline.landed(session or self.session)
        return [record for file in files if file.header.kind == kind for record in file.records()]

    def output_tokens(self, session: str | None = None) -> dict[str, int]:
        """Output tokens of each call, where the call's node says its usage is."""
        rows, found = self.rows(session), {}
        for call in self.nodes("llm.call", session):
            at = call.attrs.get("usage_at") or call.attrs["usage_reported_at"]
            usage = rows[at["seq"], at["row"]].usage
            assert usage is not None
            found[call.id.removeprefix("call/")] = usage.output
        return found


def data_of(record: LandedRecord, kind: str = "data") -> list[Any]:
    """The decoded ``data`` of a record's parts of one kind."""
    return [json.loads(bytes(part.data)) for part in record.parts if part.k == kind and part.data]
