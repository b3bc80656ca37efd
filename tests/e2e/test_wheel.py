"""What is installed is what is meant to be, and nothing named generically is put beside it."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlib_metadata import distribution, packages_distributions

import asz

CHECKOUT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    CHECKOUT in Path(asz.__file__).parents and ".tox" not in Path(asz.__file__).parts,
    reason="asz runs from the checkout, not from a wheel",
)

ALLOWED = {
    "asz",
    "asz_hookspecs",
    "asz_claude_code",
    "asz_claude_code_changes",
    "asz_claude_code_otlp",
}


def shipped() -> set[str]:
    files = distribution("asz").files or []
    return {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}


def test_the_top_level_names_are_the_packages_and_the_metadata() -> None:
    names = {name for name in shipped() if not name.endswith(".dist-info")}
    assert names == ALLOWED
    assert {name for name, owners in packages_distributions().items() if "asz" in owners} == ALLOWED


def test_what_is_shipped_is_typed_and_holds_no_tests() -> None:
    files = {str(file) for file in distribution("asz").files or []}
    assert {f"{name}/py.typed" for name in ALLOWED} <= files
    assert not [file for file in files if "/tests/" in file]


def test_the_command_is_installed() -> None:
    (script,) = distribution("asz").entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("asz", "asz.cli:main")
    done = subprocess.run(
        [sys.executable, "-I", "-m", "asz", "version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"asz {distribution('asz').version}\n"
