"""Adapters that are pushed to, installed with pip, through the real command that watches."""

import json
import signal
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from asz.storage.locks import hold

from ..support.watching import free_port, watching


class Peer:
    """The runtime that pushes."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._answers = self._connection.makefile("rb")

    def push(
        self,
        lines: Iterable[str],
        session: str = "pushed-1",
        stream: str = "main",
        src: str = "live",
    ) -> str:
        push = {"session": session, "stream": stream, "src": src, "lines": list(lines)}
        self._connection.sendall(json.dumps(push).encode() + b"\n")
        return self._answers.readline().decode().rstrip("\n")

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_exc: object) -> None:
        self._answers.close()
        self._connection.close()


@pytest.fixture
def port(asz: Any) -> int:
    """Where the adapter listens, as asz.yaml says."""
    port = free_port()
    asz.config(f"adapters:\n  - {{name: pushing, port: {port}}}\ncollector: {{interval: 1s}}\n")
    return port


def test_pushed_records_go_through_the_whole_pipeline(
    asz: Any, install: Any, port: int, tmp_path: Path
) -> None:
    with watching(tmp_path, install("pushing")) as collector:
        collector.until("pushing: receiving")
        with Peer(port) as peer:
            assert peer.push(["Good morning", "What is in the shed?"]) == "kept"
            assert peer.push(["And the key?"]) == "kept"
            landed = list((asz.root / "pushed-1").glob("*/*/*.sd"))
            assert len(landed) == 2  # durable as soon as it was answered
            while "sessions=" not in collector.until_passed():
                pass
            deadline = time.monotonic() + 30
            while not (asz.root / "_conversations" / "pushed-1" / "rounds").is_dir():
                assert time.monotonic() < deadline
                collector.until_passed()
        assert collector.stop() == 130
    shown = asz("conversation", "pushed-1").stdout
    assert '"Good morning"' in shown
    assert '"And the key?"' in shown
    verified = asz("verify")
    assert (verified.returncode, verified.stderr) == (0, "")
    assert asz("collect", "--once", plugins=("pushing",)).returncode == 0
    assert asz("conversation", "pushed-1").stdout == shown


def test_one_bad_record_is_one_bad_record(
    asz: Any, install: Any, port: int, tmp_path: Path
) -> None:
    with watching(tmp_path, install("pushing")) as collector:
        collector.until("pushing: receiving")
        with Peer(port) as peer:
            assert peer.push(["one", "raise", "three"]) == "kept"
        line = collector.until("asz_convert")
        assert line.startswith(
            "asz: error: adapter pushing (asz-test-pushing 0.1) asz_convert: Zero"
        )
        assert collector.stop() == 130
    assert asz("verify").returncode == 0


def test_names_and_other_runtimes_sessions_are_refused(
    asz: Any, install: Any, port: int, tmp_path: Path
) -> None:
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "taken.jsonl").write_text('{"id":"a","from":"person","text":"Hello"}\n')
    config = f"adapters:\n  - {{name: working, source_root: '{tmp_path / 'history'}'}}\n"
    asz.config(config)
    asz("collect", "--once", plugins=("working",))
    asz.config(f"adapters:\n  - {{name: pushing, port: {port}}}\n")
    with watching(tmp_path, install("pushing")) as collector:
        collector.until("pushing: receiving")
        with Peer(port) as peer:
            assert peer.push(["one"], session="../out").startswith("refused: session '../out'")
            assert peer.push(["one"], stream="a/b").startswith("refused: stream 'a/b'")
            assert "belongs to Working Agent" in peer.push(["one"], session="taken")
            assert peer.push(["one"]) == "kept"
        assert collector.stop() == 130
    assert len(list((asz.root / "taken").glob("*/*/*.sd"))) == 1
    assert not (tmp_path / "out").exists()


def test_a_session_another_process_has_is_busy(
    asz: Any, install: Any, port: int, tmp_path: Path
) -> None:
    with watching(tmp_path, install("pushing")) as collector:
        collector.until("pushing: receiving")
        with Peer(port) as peer:
            assert peer.push(["one"]) == "kept"
            with hold(asz.root / "pushed-1" / ".lock"):
                assert peer.push(["two"]) == "busy"
            answer = "busy"
            while answer == "busy":  # the collector's own pass may have it now
                answer = peer.push(["two"])
            assert answer == "kept"
        assert collector.stop(signal.SIGTERM) == 130
    assert len(list((asz.root / "pushed-1").glob("*/*/*.sd"))) == 2


def test_a_receiver_that_cannot_start_costs_one_line(
    asz: Any, install: Any, port: int, tmp_path: Path
) -> None:
    with (
        socket.create_server(("127.0.0.1", port)),
        watching(tmp_path, install("pushing")) as collector,
    ):
        line = collector.until("asz: error")
        assert line.startswith(
            f"asz: error: adapter pushing (asz-test-pushing 0.1) asz_receive: port {port}"
        )
        assert "sessions=" in collector.until_passed()
        assert collector.stop() == 130
    assert [one for one in collector.err if one.startswith("asz: error")] == [line]


def test_a_single_pass_says_that_it_does_not_receive(asz: Any, port: int) -> None:
    done = asz("collect", "--once", "-v", plugins=("pushing",))
    assert done.returncode == 0
    assert "asz: pushing: receives while asz collect watches; not in one pass" in done.stderr
    assert "pushing" not in asz("collect", "--once", plugins=("pushing",)).stderr
