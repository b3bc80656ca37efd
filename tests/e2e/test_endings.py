"""How a command ends when the machine wants it to: signals, a killed parent, streams that were closed."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ASZ = [sys.executable, "-m", "asz"]
COLLECT = ["collect", "--once", "--adapter", "claude-code"]
SESSIONS = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
LINE = (
    json.dumps({"type": "user", "uuid": "u", "message": {"content": "x" * 1000}}).encode() + b"\n"
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two sessions of enough bytes that a pass starts worker processes."""
    project = tmp_path / ".claude" / "projects" / "-home-me"
    project.mkdir(parents=True)
    for session in SESSIONS:
        (project / f"{session}.jsonl").write_bytes(LINE * 30_000)
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**inherited, "HOME": str(home), "ASZ_ROOT": str(home / "root")}


WAITS_TO_START = """
import fcntl, pathlib, sys

if any("spawn_main" in argument for argument in sys.orig_argv):
    here = pathlib.Path(__file__).parent
    with open(here / "gate") as gate:
        (here / "came").touch()
        fcntl.flock(gate, fcntl.LOCK_SH)
"""
"""What a worker process runs first."""


def start(home: Path) -> "subprocess.Popen[bytes]":
    """A pass that has begun to write."""
    collecting = subprocess.Popen(
        [*ASZ, *COLLECT],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not list(home.glob("root/*/streams/main/*")):
        with contextlib.suppress(subprocess.TimeoutExpired):
            collecting.wait(0.01)
            break
    return collecting


def assert_goes_on(home: Path) -> None:
    for command in (COLLECT, ["verify"]):
        done = subprocess.run(
            [*ASZ, *command],
            cwd=home,
            env=environment(home),
            check=False,
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert b"records=60000 replayed=0 " in done.stdout


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_pass_and_its_workers(home: Path, ends: signal.Signals) -> None:
    collecting = start(home)
    collecting.send_signal(ends)
    # Workers hold the other ends of the pipes: reading ends only when they have.
    _, said = collecting.communicate(timeout=30)
    assert collecting.returncode == 130
    assert b"Traceback" not in said
    assert_goes_on(home)


def test_an_interrupt_at_the_terminal_reaches_workers_that_are_starting(home: Path) -> None:
    (home / "sitecustomize.py").write_text(WAITS_TO_START)
    given = environment(home)
    given["PYTHONPATH"] = os.pathsep.join(filter(None, (str(home), given.get("PYTHONPATH"))))
    with (home / "gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        collecting = subprocess.Popen(
            [*ASZ, *COLLECT],
            cwd=home,
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        while collecting.poll() is None and not (home / "came").exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                collecting.wait(0.01)
        os.killpg(collecting.pid, signal.SIGINT)
    _, said = collecting.communicate(timeout=30)
    assert (collecting.returncode, said.strip()) == (130, b"")
    assert_goes_on(home)


def test_workers_end_with_a_parent_that_is_killed(home: Path) -> None:
    collecting = start(home)
    collecting.kill()
    collecting.communicate(timeout=30)
    assert collecting.returncode == -signal.SIGKILL
    assert_goes_on(home)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_was_closed_is_no_error(tmp_path: Path, closed: str) -> None:
    for command in ("version", " ".join(COLLECT)):
        line = f'"{sys.executable}" -m asz {command} {closed}'
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            env=environment(tmp_path),
            cwd=tmp_path,
            check=False,
            capture_output=True,
        )
        assert done.returncode == 0
