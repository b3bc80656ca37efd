"""Killed around every durable step of a derivation, each call is counted once and none is left out."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from asz.storage.steps import Step

from ..support.pipeline import Pipeline
from ..support.spool import Point, never_overlap, points
from .test_kill import DYING, MOMENTS, die

STEPS: dict[Step, list[int]] = {
    Step.METRICS_BEGIN: [1, 2, 3],
    Step.METRICS_MARK: [1, 2],
    Step.METRICS_COUNT: [1],
    Step.METRICS_RELEASE: [1],
    Step.SPOOL_WRITE: [1],
    Step.SPOOL_INSTALL: [1],
}
"""Each step that only metrics have, and the occurrences at which the process is killed."""

SHARED: dict[Step, list[int]] = {Step.FILE_SYNC: [1, 2], Step.DIRECTORY_SYNC: [1, 2, 3]}
"""Steps that others have too; in a pass that lands nothing they are the derivation's."""

METERED = ", metrics: true, metrics_lookback: 9999d"

OCCURRENCES = [
    (step, moment, nth)
    for step, times in {**STEPS, **SHARED}.items()
    for nth in times
    for moment in MOMENTS
]


def metered(home: Path, sample: Path) -> Pipeline:
    """A root in which everything has landed and nothing was derived; metrics are on from now."""
    assert Pipeline(home, sample).collect().status == 0
    return Pipeline(home, sample, METERED)


@pytest.fixture(scope="module")
def expected(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """What an uninterrupted derivation of the sample gives."""
    pipeline = metered(tmp_path_factory.mktemp("whole"), sample)
    assert pipeline.collect().status == 0
    found = points(pipeline.root)
    assert found
    return found


def made_good(pipeline: Pipeline, expected: list[Point]) -> None:
    """One more pass, and every call is counted once; a further one adds nothing."""
    for _ in range(2):
        outcome = pipeline.collect()
        assert (outcome.status, outcome.err) == (0, "")
        assert points(pipeline.root) == expected
    assert never_overlap(expected)
    assert not list(pipeline.root.rglob(".tmp-*"))


@pytest.mark.parametrize(("step", "moment", "nth"), OCCURRENCES)
def test_a_killed_derivation_is_made_good(
    step: Step, moment: str, nth: int, sample: Path, tmp_path: Path, expected: list[Point]
) -> None:
    pipeline = metered(tmp_path, sample)
    assert die(pipeline, step, moment, nth, "collect", "--once") == -signal.SIGKILL
    made_good(pipeline, expected)


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES"])
@pytest.mark.parametrize("step", [*STEPS, *SHARED])
def test_a_failing_disk_is_named_and_made_good(
    step: Step, error: str, sample: Path, tmp_path: Path, expected: list[Point]
) -> None:
    pipeline = metered(tmp_path, sample)
    command = [sys.executable, str(DYING), step, error, "1", "collect", "--once"]
    where = ["--root", str(pipeline.root), "--config", str(pipeline.config)]
    failed = subprocess.run([*command, *where], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert line.startswith("asz: error: metrics: ")
    assert os.strerror(getattr(errno, error)) in line
    made_good(pipeline, expected)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("step", [Step.METRICS_BEGIN, Step.METRICS_COUNT, Step.METRICS_MARK])
def test_a_killed_recovery_counts_nothing_again(
    step: Step, moment: str, sample: Path, tmp_path: Path, expected: list[Point]
) -> None:
    """The database is lost, and the process that takes note of it is killed."""
    pipeline = metered(tmp_path, sample)
    assert pipeline.collect().status == 0
    for name in ("derived.db", "derived.begun"):
        (pipeline.root / "_metrics" / name).unlink()
    assert die(pipeline, step, moment, 1, "collect", "--once") == -signal.SIGKILL
    for _ in range(2):
        pipeline.collect()
        assert points(pipeline.root) == expected
