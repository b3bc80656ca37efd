"""The installed command, as a user meets it first."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).parent / "asz"
ASZ = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "asz"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A home directory nobody has lived in."""
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**inherited, "HOME": str(tmp_path), "ASZ_ROOT": str(tmp_path / "root")}


@pytest.fixture
def asz(env: dict[str, str], tmp_path: Path) -> Run:
    """Runs the command there."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*ASZ, *args],
            cwd=tmp_path,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_the_sample_goes_through_the_whole_pipeline(asz: Run, tmp_path: Path) -> None:
    done = asz("collect", "--once", "--sample")
    assert (done.returncode, done.stderr) == (0, "")
    root = tmp_path / "root-sample"
    (row,) = json.loads(asz("conversations", "--json", "--root", str(root)).stdout)
    assert row["state"] == "current"
    tree = asz("conversation", row["id"][:6], "--root", str(root))
    assert tree.returncode == 0
    assert "message.external" in tree.stdout
    verified = asz("verify", "--root", str(root))
    assert (verified.returncode, verified.stderr) == (0, "")


def test_without_history_it_says_where_it_looked(asz: Run) -> None:
    done = asz("collect", "--once")
    assert done.returncode == 0
    assert done.stderr.startswith("asz: no sessions found; looked in ")


def test_a_watching_collector_ends_when_interrupted(env: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(
        [*ASZ, "collect"],
        cwd=tmp_path,
        env={**env, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert "sessions=0" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
