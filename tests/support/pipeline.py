"""A storage root of a test's own, worked on through the real command line, in this process."""

import contextlib
import io
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from asz.assembly.assemble import assemble
from asz.assembly.model import Entities
from asz.cli import main
from asz.flow.chain import read_chain
from asz.flow.fold import Folded, fold
from asz.flow.sf import Round
from asz.storage.index import load
from asz.storage.root import Root
from asz.storage.sd import SdFile, read_file


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the pass line: ``landed``, ``records``, ``damaged``, ``conflicts`` …"""
        found = re.findall(r"(\w+)=(\d+)(?= )", self.out + self.err)
        return {name: int(number) for name, number in found}


class Pipeline:
    """``projects`` is what a runtime wrote, ``root`` what asz made of it. With ``changes``, what the plugin
    wrote beside ``projects`` is read too."""

    def __init__(
        self,
        home: Path,
        projects: Path,
        options: str = "",
        collector: str = "",
        changes: bool = False,
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home, self.projects = home, projects
        self.root, self.config = home / "root", home / "asz.yaml"
        self.adapters = ("claude-code", "claude-code-changes") if changes else ("claude-code",)
        entry = f"source_root: {json.dumps(str(projects))}, exclude: []{options}"
        entries = [f"  - {{name: {name}, {entry}}}\n" for name in self.adapters]
        if not changes:  # nor are those of whoever runs the tests
            entries.append("  - {name: claude-code-changes, enabled: false}\n")
        self.config.write_text("adapters:\n" + "".join(entries) + collector)

    # ---------------------------------------------------------------- commands

    def asz(self, *args: str) -> Outcome:
        """Run a command with this root and configuration."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([*args, "--root", str(self.root), "--config", str(self.config)])
        return Outcome(status, out.getvalue(), err.getvalue())

    def collect(self) -> Outcome:
        """One pass over the sources."""
        chosen = [word for name in self.adapters for word in ("--adapter", name)]
        return self.asz("collect", *chosen, "--once")

    def conversation(self, session: str) -> dict[str, Any]:
        """What ``asz conversation --json`` prints."""
        outcome = self.asz("conversation", session, "--json")
        assert outcome.status == 0, outcome.err
        printed: dict[str, Any] = json.loads(outcome.out)
        return printed

    # ---------------------------------------------------------------- what lies in the root

    def sessions(self) -> list[str]:
        """Every session that landed."""
        return Root.open(self.root, write=False).sessions() if self.root.exists() else []

    def landed(self, session: str) -> list[SdFile]:
        """Every landed file of a session, in ascending sequence."""
        files = [read_file(path) for path in (self.root / session).glob("*/*/*.sd")]
        return sorted(files, key=lambda file: file.header.seq)

    def rounds(self, session: str) -> list[Path]:
        """The files of a session's chain, in order."""
        return sorted((self.root / "_conversations" / session / "rounds").glob("*.sf"))

    def chain(self, session: str) -> list[Round]:
        """A session's rounds, read and checked."""
        chain = read_chain(Root.open(self.root, write=False).conversation_dir(session))
        assert chain.problem is None, chain.problem
        return chain.rounds

    def folded(self, session: str, rounds: int | None = None) -> Folded:
        """The fold of the chain, or of its first rounds."""
        return fold(self.chain(session)[:rounds])

    def assembled(self, session: str, through_seq: int | None = None) -> Entities:
        """One full assembly through a sequence."""
        return assemble(load(self.root / session, through_seq))

    def copy(self, home: Path, collector: str = "") -> "Pipeline":
        """The same sources and a copy of the root."""
        shutil.copytree(self.root, home / "root")
        changes = "claude-code-changes" in self.adapters
        return Pipeline(home, self.projects, collector=collector, changes=changes)

    def forget(self, session: str) -> None:
        """Delete what is local or derived: the cursors and the index."""
        shutil.rmtree(self.root / session / "index")
        for path in (self.root / session).glob("state.db*"):
            path.unlink()


def plain(entities: Entities) -> dict[str, Any]:
    """A structure without what only a chain adds: revisions, and references that were resolved."""
    nodes = {key: msgspec.structs.replace(node, revision=0) for key, node in entities.nodes.items()}
    relations = {
        key: msgspec.structs.replace(relation, revision=0)
        for key, relation in entities.relations.items()
    }
    unresolved = {
        key: msgspec.structs.replace(entry, revision=0)
        for key, entry in entities.unresolved.items()
        if entry.state == "open"
    }
    return {"nodes": nodes, "relations": relations, "unresolved": unresolved}
