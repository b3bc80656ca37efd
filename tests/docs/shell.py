"""Running what a page shows, as the person it is written for."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HOME = "/home/sam"
"""Whose machine the pages were written on."""

_CHANGING = (
    (re.compile(r"\[\d\d:\d\d:\d\d\]"), "[time]"),
    (re.compile(r"\(\d+\.\ds\)"), "(took)"),
    (re.compile(r"\d{8}T\d{6}\.\d{9}Z"), "stamp"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=  )"), "moment"),
    (re.compile(r"r\d{6}-[0-9a-f]{12}\.sf"), "round"),
    (re.compile(r" {2,}"), "  "),
)
ELIDED = "…"
"""A line of a page that stands for any lines of the output."""


@dataclass
class Shell:
    """An empty home, with ``asz`` and what is installed into ``site``."""

    home: Path
    site: Path | None = None
    env: dict[str, str] = field(default_factory=dict)

    def run(self, line: str) -> list[str]:
        """The lines a command prints on both outputs; what may differ from run to run is masked."""
        words = [self._expanded(word) for word in shlex.split(line)]
        assert words[0].rpartition("/")[2] == "asz", line
        done = subprocess.run(
            [sys.executable, "-m", "asz", *words[1:]],
            cwd=self.home,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "ASZ_ROOT": str(self.home / ".local/share/asz"),
                "PYTHONPATH": python_path(self.site),
                "PYTHONSAFEPATH": "1",
                **self.env,
            },
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        return [masked(text.replace(str(self.home), HOME)) for text in done.stdout.splitlines()]

    def config(self, text: str) -> None:
        """An asz.yaml where ``asz`` finds it."""
        path = self.home / ".config" / "asz" / "asz.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def export(self, line: str) -> None:
        """``export NAME=VALUE``."""
        name, _, value = line.removeprefix("export ").partition("=")
        self.env[name] = self._expanded(value)

    def _expanded(self, word: str) -> str:
        return str(self.home) + word[1:] if word.startswith("~/") else word


def python_path(site: Path | None) -> str:
    """``PYTHONPATH`` with ``site`` before what this process was given."""
    places = [str(site) if site else "", os.environ.get("PYTHONPATH", "")]
    return os.pathsep.join(filter(None, places))


def masked(line: str) -> str:
    """A line without what differs from run to run, widths of columns included."""
    for pattern, word in _CHANGING:
        line = pattern.sub(word, line)
    return line


def differences(shown: list[str], real: list[str]) -> list[str]:
    """Lines of a page that the output does not have where the page has them."""
    at, skipping = 0, False
    missing = []
    for line in shown:
        if line.strip() == ELIDED:
            skipping = True
            continue
        wanted = masked(line)
        found = real.index(wanted, at) if wanted in real[at:] else -1
        if found < 0 or (found > at and not skipping):
            missing.append(line)
            continue
        at, skipping = found + 1, False
    if at < len(real) and not skipping:
        missing.append(f"not shown: {real[at]}")
    return missing
