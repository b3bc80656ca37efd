"""Killed around every durable step of a push, everything arrives, and what is known as sent is not sent
again."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from asz.storage.steps import Step

from ..support.otlp import Listening, grpc_receiver, records
from ..support.pipeline import Pipeline
from ..support.pushing import Place, spool_request
from .test_kill import DYING, MOMENTS, SMALL, die

STEPS: dict[Step, list[int]] = {Step.SENT_SAVE: [1, 2, 4], Step.SPOOL_PRUNE: [1, 2]}
"""Each step that only pushing has, and the occurrences at which the process is killed."""


@pytest.fixture
def receiver() -> Iterator[Listening]:
    with grpc_receiver() as listening:
        yield listening


@pytest.fixture
def pipeline(receiver: Listening, sample: Path, tmp_path: Path) -> Pipeline:
    """A root with all there is to send, in small requests, and nothing of it sent."""
    pipeline = Pipeline(tmp_path, sample, collector=SMALL)
    assert pipeline.collect().status == 0
    for seq in (1, 2, 3):
        spool_request(pipeline.root, seq)
    named = {"endpoint": receiver.endpoint, "batch_bytes": 20_000}
    return Pipeline(tmp_path, sample, collector=f"export: {{otlp: {json.dumps(named)}}}\n")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("nth", STEPS[Step.SENT_SAVE])
def test_a_killed_push_is_made_good(
    nth: int, moment: str, pipeline: Pipeline, receiver: Listening
) -> None:
    assert die(pipeline, Step.SENT_SAVE, moment, nth, "push", "--once") == -signal.SIGKILL
    assert len(receiver.inbox.requests) == nth
    saved = nth - 1 if moment == "before" else nth
    kept = [
        str(record.attributes["asz.file"])
        for request in receiver.inbox.requests[:saved]
        for record in records(request.body)
    ]
    sent = made_good(pipeline, receiver)
    assert sorted([*kept, *sent]) == Place(pipeline.home).files()


def made_good(pipeline: Pipeline, receiver: Listening) -> list[str]:
    """One more pass, and everything has arrived; a further one sends nothing.

    :returns: the files the pass sent.
    """
    before = len(receiver.inbox.paths())
    outcome = pipeline.asz("push", "--once")
    assert (outcome.status, outcome.err) == (0, "")
    assert sorted(set(receiver.inbox.paths())) == Place(pipeline.home).files()
    assert len(set(receiver.inbox.taken("metrics"))) == 3
    assert pipeline.asz("push", "--once").counts["requests"] == 0
    assert not list(pipeline.root.rglob(".tmp-*"))
    return receiver.inbox.paths()[before:]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("nth", STEPS[Step.SPOOL_PRUNE])
def test_a_killed_pruning_is_made_good(
    nth: int, moment: str, pipeline: Pipeline, receiver: Listening
) -> None:
    assert pipeline.asz("push", "--once").status == 0
    assert die(pipeline, Step.SPOOL_PRUNE, moment, nth, "push", "--prune") == -signal.SIGKILL
    removed = nth - 1 if moment == "before" else nth
    assert len(list((pipeline.root / "_metrics").glob("*.pb"))) == 3 - removed
    assert pipeline.asz("push", "--prune").status == 0
    assert not list((pipeline.root / "_metrics").glob("*.pb"))
    assert pipeline.asz("push", "--once").counts["requests"] == 0
    assert len(receiver.inbox.taken("metrics")) == 3


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES"])
@pytest.mark.parametrize(
    ("step", "args"), [(Step.SENT_SAVE, "--once"), (Step.SPOOL_PRUNE, "--prune")]
)
def test_a_failing_disk_is_named_and_made_good(
    step: Step, args: str, error: str, pipeline: Pipeline, receiver: Listening
) -> None:
    if step is Step.SPOOL_PRUNE:
        assert pipeline.asz("push", "--once").status == 0
    command = [sys.executable, str(DYING), step, error, "1", "push", args]
    where = ["--root", str(pipeline.root), "--config", str(pipeline.config)]
    failed = subprocess.run([*command, *where], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert os.strerror(getattr(errno, error)) in line
    made_good(pipeline, receiver)
    assert pipeline.asz("push", "--prune").status == 0
