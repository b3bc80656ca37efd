"""What a peer was told is kept is kept: killed anywhere, on a failing disk, and when it is ended."""

import errno
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from asz.metrics.spool import Spool
from asz.storage.root import Root
from asz.storage.steps import Step

from ..support.telemetry import post, request
from ..support.watching import Watching, free_port, watching

DYING = str(Path(__file__).parent / "dying.py")


@pytest.fixture
def port(tmp_path: Path) -> int:
    """Where the receiver listens, as asz.yaml says."""
    port = free_port()
    (tmp_path / "asz.yaml").write_text(
        f"adapters:\n  - {{name: claude-code-otlp, listen: '127.0.0.1:{port}'}}\n"
    )
    return port


def kept(root: Path) -> list[bytes]:
    spool = Spool(Root.open(root, write=False))
    return [spool.read(entry) for entry in spool.entries()]


def clean(root: Path) -> bool:
    return not list(root.rglob(".tmp-*"))


def ready(collector: Watching) -> None:
    """Wait until it serves and has made its first pass, so that steps are the receiver's own."""
    collector.until("claude-code-otlp: receiving")
    assert " errors=0 " in collector.until_passed()


KILLED = [
    (step, moment, nth)
    for step, occurrences in {
        Step.SPOOL_WRITE: (1, 4),
        Step.SPOOL_INSTALL: (1, 4),
    }.items()
    for nth in occurrences
    for moment in ("before", "after")
]


@pytest.mark.parametrize(("step", "moment", "nth"), KILLED)
def test_killed_between_write_and_answer(
    step: Step, moment: str, nth: int, tmp_path: Path, port: int
) -> None:
    dying = (sys.executable, DYING, step, moment, str(nth))
    answered: list[bytes] = []
    with (
        watching(tmp_path, asz=dying) as collector,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        ready(collector)
        for number in range(10):
            if post(client, request(number)) != 200:
                break
            answered.append(request(number))
        assert collector.ended() == -signal.SIGKILL
    assert len(answered) == nth - 1
    there = kept(collector.root)
    assert there[: len(answered)] == answered
    assert there[len(answered) :] in ([], [request(len(answered))])
    with (
        watching(tmp_path) as again,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        ready(again)
        assert post(client, request(99)) == 200
        assert again.stop() == 130
    assert kept(collector.root) == [*there, request(99)]
    assert clean(collector.root)


def test_killed_under_load(tmp_path: Path, port: int) -> None:
    answered: list[bytes] = []
    enough = threading.Event()

    def send(peer: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            for turn in range(2000):
                body = request(peer * 10_000 + turn)
                if post(client, body) != 200:
                    return
                answered.append(body)
                if len(answered) >= 200:
                    enough.set()

    with watching(tmp_path) as collector, ThreadPoolExecutor(8) as pool:
        ready(collector)
        sending = [pool.submit(send, peer) for peer in range(8)]
        assert enough.wait(60)
        collector.process.kill()
        for one in sending:
            one.result()
        collector.ended()
    there = kept(collector.root)
    assert set(answered) <= set(there)
    assert len(there) == len(set(there)) <= len(answered) + 8


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EACCES"])
@pytest.mark.parametrize("step", [Step.SPOOL_WRITE, Step.SPOOL_INSTALL])
def test_a_failing_disk_makes_the_peer_wait(
    step: Step, error: str, tmp_path: Path, port: int
) -> None:
    failing = (sys.executable, DYING, step, error, "3")
    with (
        watching(tmp_path, asz=failing) as collector,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        ready(collector)
        statuses = []
        for number in range(4):
            answer = client.post(
                "/v1/metrics",
                content=request(number),
                headers={"content-type": "application/x-protobuf"},
            )
            statuses.append(answer.status_code)
        assert answer.headers["retry-after"] == "60"
        assert os.strerror(getattr(errno, error)).encode() in answer.content
        assert collector.stop() == 130
    assert statuses == [200, 200, 503, 503]
    assert kept(collector.root) == [request(0), request(1)]
    assert clean(collector.root)


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_ended_it_leaves_nothing_half_done(
    with_signal: signal.Signals, tmp_path: Path, port: int
) -> None:
    with (
        watching(tmp_path) as collector,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        ready(collector)
        for number in range(20):
            assert post(client, request(number)) == 200
        assert collector.stop(with_signal) == 130
    assert kept(collector.root) == [request(number) for number in range(20)]
    assert [line for line in collector.err if "error" in line or "warning" in line] == []
    with watching(tmp_path) as again:
        ready(again)
        assert again.stop() == 130
