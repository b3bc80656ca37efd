"""The history that ships with the adapter: built from a scenario, and read through a process of its own."""

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Final

from .builder import Scenario

TIDEWATCH: Final = Path(__file__).parent / "sample" / "tidewatch.yaml"


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path there."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def asz(*args: str) -> str:
    """Run ``asz`` in a process of its own; what it printed."""
    command = [sys.executable, "-m", "asz", *args]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_the_sample_is_what_its_scenario_says(tmp_path: Path) -> None:
    """Rebuild it with ``python -m tests.scenarios.builder``, see README.md."""
    scenario = Scenario(TIDEWATCH)
    for checkpoint in scenario.checkpoints:
        scenario.write(tmp_path, checkpoint)
    with resources.as_file(resources.files("asz_claude_code") / "sample" / "projects") as shipped:
        assert files_below(shipped) == files_below(tmp_path)


def test_the_sample_is_collected_and_shown(tmp_path: Path) -> None:
    config, root = tmp_path / "asz.yaml", tmp_path / "root"
    config.write_text("adapters: [{name: claude-code}]\n")
    common = ("--root", str(root), "--config", str(config))
    assert "errors=0" in asz("collect", "--sample", *common)
    session = Scenario(TIDEWATCH).session
    shown = asz("conversation", session[:8], *common)
    assert "Local times in tide table and manual" in shown
    printed = json.loads(asz("conversation", session, "--json", *common))
    assert len(printed["nodes"]) == len({node["id"] for node in printed["nodes"]})
    assert printed["problem"] is None
    asz("verify", *common)
    landed = files_below(root / session)
    assert "records=0" in asz("collect", "--sample", *common)
    sd = {name: data for name, data in files_below(root / session).items() if name.endswith(".sd")}
    assert sd == {name: data for name, data in landed.items() if name.endswith(".sd")}
