"""The examples of docs/command-line.md are what asz prints."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import asz_claude_code
from asz.cli import main
from asz.cli.app import COMMANDS

PAGE = Path(__file__).parents[3] / "docs" / "command-line.md"
SAMPLE = Path(asz_claude_code.__file__).parent / "sample" / "projects"


def examples() -> Iterator[tuple[str, list[str]]]:
    """Each indented block that begins with ``$ asz``: the command and what it prints."""
    for block in re.findall(r"(?:^    .*\n)+", PAGE.read_text("utf-8"), re.MULTILINE):
        first, *rest = [line[4:] for line in block.splitlines()]
        if first.startswith("$ asz "):
            yield first.removeprefix("$ asz "), rest


def settled(text: str, home: Path) -> str:
    """Without what differs from run to run: the home directory, widths that follow from it, times."""
    text = text.replace(str(home), "/home/sam")
    text = re.sub(r"\[\d\d:\d\d:\d\d\]", "[TIME]", text)
    text = re.sub(r"\(\d+\.\d+s\)$", "(SECONDS)", text, flags=re.MULTILINE)
    return re.sub(r"(?<=\S) {2,}", "  ", text)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with the sample as its only history."""
    for name in ("ASZ_CONFIG", "ASZ_ROOT", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / ".local" / "share"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE, tmp_path / ".claude" / "projects")
    return tmp_path


def test_every_example_prints_what_it_shows(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = list(examples())
    assert len(shown) >= 12
    for command, expected in shown:
        assert main(shlex.split(command)) == 0, command
        output = settled(capsys.readouterr().out, home)
        at = 0
        for piece in settled("\n".join(expected), home).split("…"):
            found = output.find(piece.strip("\n"), at)
            assert found >= at, f"asz {command} does not print:\n{piece}\nbut:\n{output}"
            at = found + len(piece.strip("\n"))
        assert "…" in "\n".join(expected) or output.strip("\n") == settled(
            "\n".join(expected), home
        ), command


def test_every_command_has_a_section() -> None:
    titles = re.findall(r"^## asz (\w+)", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(titles) == sorted(COMMANDS)
