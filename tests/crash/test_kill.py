"""Killed before and after every durable step, the next pass ends where an uninterrupted one does."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from asz.storage.index import load
from asz.storage.steps import Step

from ..support.pipeline import Pipeline

DYING = Path(__file__).parent / "dying.py"

STEPS: dict[Step, list[int]] = {
    Step.ROOT_MARK: [1],
    Step.FILE_WRITE: [1, 2, 5],
    Step.FILE_SYNC: [1, 2],
    Step.FILE_INSTALL: [1, 2, 5],
    Step.DIRECTORY_SYNC: [1, 2, 3],
    Step.CURSOR_SAVE: [1],
    Step.INDEX_SAVE: [1],
    Step.ROUND_WRITE: [1, 2],
    Step.ROUND_INSTALL: [1, 2],
    Step.STATE_SAVE: [1],
    Step.MEMORY_SAVE: [1],
    Step.CHAIN_SET_ASIDE: [1],
}
"""Each step of collecting and parsing, and the occurrences at which the process is killed."""

COLLECTING = [step for step in STEPS if step is not Step.CHAIN_SET_ASIDE]

MOMENTS = ("before", "after")
SMALL = "collector: {max_delta_bytes: 8000}\nparse: {max_round_bytes: 8000}\n"
"""Small files and rounds, so that one session has many of each."""


def die(pipeline: Pipeline, step: str, moment: str, nth: int, *args: str) -> int:
    """Run a command that is killed; its status."""
    command = [sys.executable, str(DYING), step, moment, str(nth), *args]
    where = ["--root", str(pipeline.root), "--config", str(pipeline.config)]
    return subprocess.run([*command, *where], capture_output=True, check=False).returncode


PLACE = re.compile(
    r"((?:^|/)(?:ack|input|inject|notify|boundary|summary|think|msg|error|turn|command|notice)[/_]|at_)"
    r"(\d+)[/_](\d+)"
)
"""The landed position inside an id."""


def structure(pipeline: Pipeline, session: str) -> Any:
    """The fold, with every position replaced by the source and line it stands for."""
    rows = load(pipeline.root / session)
    places = {(r.seq, r.row): f"{rows.files[r.seq].src}#{r.ord}" for r in rows.records}

    def mapped(value: Any) -> Any:
        if isinstance(value, dict):
            rest = {key: mapped(item) for key, item in value.items() if key != "revision"}
            if "seq" in rest and "row" in rest:
                rest["at"] = places[rest.pop("seq"), rest.pop("row")]
            return rest
        if isinstance(value, list):
            return [mapped(item) for item in value]
        if isinstance(value, str):
            return PLACE.sub(lambda m: m[1] + places[int(m[2]), int(m[3])], value)
        return value

    printed = pipeline.conversation(session)
    return {
        kind: sorted(
            (mapped(item) for item in printed[kind] if item.get("state") != "resolved"),
            key=lambda item: str(item["id"]),
        )
        for kind in ("nodes", "relations", "unresolved")
    }


@pytest.fixture(scope="module")
def expected(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an uninterrupted collect of the sample gives."""
    pipeline = Pipeline(tmp_path_factory.mktemp("whole"), sample, collector=SMALL)
    assert pipeline.collect().status == 0
    return {session: structure(pipeline, session) for session in pipeline.sessions()}


@pytest.mark.parametrize(
    ("step", "moment", "nth"),
    [(step, moment, nth) for step in COLLECTING for nth in STEPS[step] for moment in MOMENTS],
)
def test_a_killed_collect_is_made_good(
    step: Step, moment: str, nth: int, sample: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    pipeline = Pipeline(tmp_path, sample, collector=SMALL)
    status = die(pipeline, step, moment, nth, "collect", "--once", "--adapter", "claude-code")
    assert status == -signal.SIGKILL
    made_good(pipeline, expected)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    "step",
    [step for step in COLLECTING if step is not Step.ROOT_MARK],
)
def test_a_killed_growth_is_made_good(
    step: Step, moment: str, sample: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    projects = tmp_path / "projects"
    shutil.copytree(sample, projects)
    for path in projects.rglob("*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: len(lines) // 2]))
    pipeline = Pipeline(tmp_path / "home", projects, collector=SMALL)
    assert pipeline.collect().status == 0
    for path in projects.rglob("*.jsonl"):
        path.write_bytes((sample / path.relative_to(projects)).read_bytes())
    assert die(pipeline, step, moment, 1, "collect", "--once") == -signal.SIGKILL
    made_good(pipeline, expected)


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES"])
@pytest.mark.parametrize("step", [step for step in COLLECTING if step is not Step.MEMORY_SAVE])
def test_a_failing_disk_is_named_and_made_good(
    step: Step, error: str, sample: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    pipeline = Pipeline(tmp_path, sample, collector=SMALL)
    command = [sys.executable, str(DYING), step, error, "1", "collect", "--once"]
    where = ["--root", str(pipeline.root), "--config", str(pipeline.config)]
    failed = subprocess.run([*command, *where], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    lines = failed.stderr.splitlines()
    assert len(lines) == 1
    assert os.strerror(getattr(errno, error)) in lines[0]
    made_good(pipeline, expected)


def test_a_memory_that_cannot_be_kept_costs_nothing_but_time(
    sample: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    pipeline = Pipeline(tmp_path, sample, collector=SMALL)
    assert die(pipeline, Step.MEMORY_SAVE, "ENOSPC", 1, "collect", "--once") == 0
    made_good(pipeline, expected)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_rebuild_is_made_good(
    moment: str, sample: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    pipeline = Pipeline(tmp_path, sample, collector=SMALL)
    pipeline.collect()
    status = die(pipeline, Step.CHAIN_SET_ASIDE, moment, 1, "parse", "--rebuild")
    assert status == -signal.SIGKILL
    made_good(pipeline, expected)


def made_good(pipeline: Pipeline, expected: dict[str, Any]) -> None:
    """One more pass, and everything is as if nothing had happened."""
    outcome = pipeline.collect()
    assert outcome.status == 0, outcome.err
    assert pipeline.sessions() == list(expected)
    for session, whole in expected.items():
        assert structure(pipeline, session) == whole
    checked = pipeline.asz("verify")
    assert checked.status == 0, checked.out + checked.err
    assert pipeline.collect().counts["landed"] == 0
    assert not list(pipeline.root.rglob(".tmp-*"))
