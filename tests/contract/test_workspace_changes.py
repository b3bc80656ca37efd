"""What the plugin observed lands beside the transcripts, in the same sessions, and changes no structure."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import asz_claude_code
from asz.storage.index import load
from asz.storage.sd import SdFile
from asz.storage.steps import Step

from ..support.pipeline import Pipeline, plain

SAMPLE = Path(asz_claude_code.__file__).parent / "sample" / "projects"
SESSION = "4be1a7c2-9d3f-4e58-8a06-1f5c7d2e9b34"
PLUGIN = "file-changes-asz"
DYING = Path(__file__).parent.parent / "crash" / "dying.py"


def observed(tool: str, **fields: Any) -> dict[str, Any]:
    """One record of changes."""
    change = {"path": "a.py", "operation": "modify", "diff": "unavailable"}
    return {
        "schema": "changes/1",
        "id": tool,
        "captured_by": "asz-plugin",
        "session": SESSION,
        "stream": "main",
        "tool": tool,
        "time": "2026-09-01T10:00:00.000Z",
        "basis": "tool_window",
        "root": {"path": "/home/sam/projects/tidewatch"},
        "changes": [change],
        **fields,
    }


class Machine:
    """A Claude Code directory with projects and plugins, and a root of its own."""

    def __init__(self, home: Path, transcripts: bool = True) -> None:
        self.claude = home / "claude"
        self.projects = self.claude / "projects"
        self.projects.mkdir(parents=True)
        if transcripts:
            for path in SAMPLE.rglob("*.jsonl"):
                target = self.projects / path.relative_to(SAMPLE)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
        self.pipeline = Pipeline(home / "asz", self.projects, changes=True)

    def path(self, plugin: str = PLUGIN, stream: str = "main", session: str = SESSION) -> Path:
        """Where the plugin writes of a stream."""
        return self.claude / "plugins/data" / plugin / "output" / session / f"{stream}.jsonl"

    def observe(self, *tools: str, plugin: str = PLUGIN, stream: str = "main") -> Path:
        """Let the plugin append a record for each tool."""
        path = self.path(plugin, stream)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as handle:
            handle.writelines(json.dumps(observed(tool)) + "\n" for tool in tools)
        return path

    def collect(self) -> dict[str, int]:
        """One pass without complaints."""
        outcome = self.pipeline.collect()
        assert (outcome.status, outcome.err) == (0, "")
        return outcome.counts

    def files(self) -> list[SdFile]:
        """Landed files of kind changes."""
        landed = self.pipeline.landed(SESSION)
        return [file for file in landed if file.header.kind == "changes"]

    def told(self) -> list[tuple[str, int, str]]:
        """Source, number and tool of every landed record of changes."""
        return sorted(
            (file.header.src, record.ord, record.tool or "")
            for file in self.files()
            for record in file.records()
        )

    def verified(self) -> None:
        outcome = self.pipeline.asz("verify")
        assert (outcome.status, outcome.err) == (0, "")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def src(plugin: str = PLUGIN, stream: str = "main") -> str:
    return f"{plugin}/output/{SESSION}/{stream}.jsonl"


def test_records_land_under_the_stream_the_tool_ran_in(machine: Machine) -> None:
    machine.observe("t1", "t2")
    machine.observe("t3", stream="a0123456789abcdef")
    machine.collect()
    assert machine.told() == [
        (src(stream="a0123456789abcdef"), 1, "t3"),
        (src(), 1, "t1"),
        (src(), 2, "t2"),
    ]
    for file in machine.files():
        header = file.header
        assert (header.runtime, header.dialect) == ("Claude Code", "asz-changes/1")
        assert header.adapter.startswith("claude-code-changes/")
    names = [path.name for path in (machine.pipeline.root / SESSION / "streams/main").iterdir()]
    assert any(re.match(r"changes-.*\.sd", name) for name in names)
    machine.verified()


def test_the_structure_is_the_same_with_and_without_them(tmp_path: Path) -> None:
    without, among = Machine(tmp_path / "without"), Machine(tmp_path / "with")
    among.observe("t1")
    among.observe("t9", stream="a0123456789abcdef")
    before, after = (
        (one.collect(), plain(one.pipeline.folded(SESSION)))[1] for one in (without, among)
    )
    assert before["nodes"].keys() == after["nodes"].keys()
    assert before["relations"].keys() == after["relations"].keys()
    assert before["unresolved"] == after["unresolved"]
    assert plain(among.pipeline.folded(SESSION)) == plain(among.pipeline.assembled(SESSION))


def test_a_session_that_claude_code_did_not_bring(tmp_path: Path) -> None:
    machine = Machine(tmp_path, transcripts=False)
    machine.observe("t1")
    machine.collect()
    assert machine.told() == [(src(), 1, "t1")]
    (folded,) = [machine.pipeline.folded(SESSION)]
    assert {node.kind for node in folded.nodes.values()} <= {"session", "stream"}
    later = Machine(tmp_path / "later")
    for path in later.projects.rglob("*.jsonl"):
        target = machine.projects / path.relative_to(later.projects)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    machine.collect()
    kinds = [file.header.kind for file in machine.pipeline.landed(SESSION)]
    assert kinds[0] == "changes"
    assert "transcript" in kinds
    machine.verified()


def test_only_what_is_new_lands(machine: Machine) -> None:
    machine.observe("t1")
    machine.collect()
    assert machine.collect()["records"] == 0
    machine.observe("t2")
    assert machine.collect()["records"] == 1
    assert machine.told() == [(src(), 1, "t1"), (src(), 2, "t2")]
    machine.verified()


def test_two_installations_that_saw_one_stream_are_both_read(machine: Machine) -> None:
    machine.observe("t1", "t2")
    machine.observe("t2", "t3", plugin="file-changes-elsewhere")
    machine.collect()
    everything = [
        (src("file-changes-asz"), 1, "t1"),
        (src("file-changes-asz"), 2, "t2"),
        (src("file-changes-elsewhere"), 1, "t2"),
        (src("file-changes-elsewhere"), 2, "t3"),
    ]
    assert machine.told() == everything
    machine.pipeline.forget(SESSION)
    assert machine.collect()["records"] == 0
    machine.observe("t4")
    machine.observe("t5", plugin="file-changes-elsewhere")
    assert machine.collect()["records"] == 2
    assert machine.told() == sorted(
        [*everything, (src(), 3, "t4"), (src("file-changes-elsewhere"), 3, "t5")]
    )
    machine.verified()


def test_what_the_plugin_removes_has_gone_and_stays_landed(machine: Machine) -> None:
    path = machine.observe("t1")
    machine.collect()
    path.unlink()
    assert machine.collect()["gone"] == 1
    assert machine.collect()["gone"] == 0
    assert machine.told() == [(src(), 1, "t1")]
    machine.verified()


def test_a_rewritten_file_lands_again(machine: Machine) -> None:
    path = machine.observe("t1", "t2")
    machine.collect()
    path.write_text(json.dumps(observed("t9")) + "\n")
    outcome = machine.pipeline.collect()
    assert (outcome.status, outcome.counts["conflicts"]) == (1, 1)
    assert machine.told() == [(src(), 1, "t1"), (src(), 1, "t9"), (src(), 2, "t2")]
    machine.verified()


def test_an_emptied_file_is_a_conflict(machine: Machine) -> None:
    path = machine.observe("t1")
    machine.collect()
    path.write_bytes(b"")
    assert machine.pipeline.collect().counts["conflicts"] == 1


def test_invalid_lines_are_counted_and_kept(machine: Machine) -> None:
    path = machine.observe("t1")
    with path.open("a") as handle:
        handle.write("not json\n")
        handle.write(json.dumps(observed("t2", schema="changes/2")) + "\n")
    machine.observe("t3")
    assert machine.collect()["damaged"] == 2
    parts = [record.parts[0].k for file in machine.files() for record in file.records()]
    assert parts == ["data", "unknown", "unknown", "data"]
    machine.verified()


def test_show_and_index_know_them(machine: Machine) -> None:
    machine.observe("toolu_observed")
    machine.collect()
    shown = machine.pipeline.asz("show", SESSION, "toolu_observed", "--json")
    assert shown.status == 0
    assert "changes/1" in shown.out
    assert "asz-plugin" in shown.out
    kinds = {file.kind for file in load(machine.pipeline.root / SESSION).files.values()}
    assert "changes" in kinds
    assert machine.pipeline.asz("index", SESSION).status == 0


def test_the_runtime_s_own_patch_stands_beside_its_result(machine: Machine) -> None:
    machine.collect()
    own = [
        json.loads(bytes(part.data))
        for file in machine.pipeline.landed(SESSION)
        for record in file.records()
        for part in record.parts[1:]
        if part.k == "data" and b"changes/1" in bytes(part.data)
    ]
    assert [record["changes"][0]["path"] for record in own] == ["tidewatch/table.py"] * 2
    assert {record["session"] for record in own} == {SESSION}
    machine.verified()


STEPS: Sequence[Step] = (Step.FILE_WRITE, Step.FILE_INSTALL, Step.CURSOR_SAVE, Step.INDEX_SAVE)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_pass_is_made_good(machine: Machine, step: Step, moment: str) -> None:
    machine.observe("t1")
    machine.observe("t2", plugin="file-changes-elsewhere")
    command = [sys.executable, str(DYING), step, moment, "1", "collect", "--once"]
    where = ["--root", str(machine.pipeline.root), "--config", str(machine.pipeline.config)]
    died = subprocess.run([*command, *where], capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL
    machine.collect()
    assert machine.told() == [(src(), 1, "t1"), (src("file-changes-elsewhere"), 1, "t2")]
    machine.verified()
