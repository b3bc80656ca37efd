"""A watching ``asz collect`` in a process of its own, which something is pushed to."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ASZ = (sys.executable, "-m", "asz")


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Watching:
    """``asz -v collect`` until it is stopped."""

    def __init__(self, home: Path, site: Path | None = None, asz: Sequence[str] = ASZ) -> None:
        """Collect below ``home``, with the asz.yaml that lies there.

        :param site: a directory with further installed adapters.
        """
        (home / ".claude" / "projects").mkdir(parents=True, exist_ok=True)
        paths = [str(site) if site else "", os.environ.get("PYTHONPATH", "")]
        self.root = home / "root"
        self.err: list[str] = []
        self.process = subprocess.Popen(
            [*asz, "-v", "collect", "--config", str(home / "asz.yaml")],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "ASZ_ROOT": str(self.root),
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                "PYTHONSAFEPATH": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, words: str) -> str:
        """The line on standard error that has these words; waits for it."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.err.append(line.rstrip("\n"))
            if words in line:
                return self.err[-1]
        raise AssertionError(f"ended without {words!r}: {self.err}")

    def until_passed(self) -> str:
        """The next pass line."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def stop(self, with_signal: int = signal.SIGINT) -> int:
        """End it; its status."""
        self.process.send_signal(with_signal)
        return self.ended()

    def ended(self) -> int:
        """Wait until it has ended; its status."""
        _out, err = self.process.communicate(timeout=60)
        self.err += err.splitlines()
        return self.process.returncode


@contextmanager
def watching(home: Path, site: Path | None = None, asz: Sequence[str] = ASZ) -> Iterator[Watching]:
    """A watching collector that does not outlive the block."""
    made = Watching(home, site, asz)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.process.kill()
            made.process.communicate()
        for stream in (made.process.stdout, made.process.stderr):
            if stream is not None:
                stream.close()
