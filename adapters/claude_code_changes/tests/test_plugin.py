"""The adapter as the core meets it."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from asz_claude_code_changes import plugin
from asz_claude_code_changes.options import Options


def test_importing_the_plugin_imports_little() -> None:
    code = "import sys, asz_claude_code_changes.plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "msgspec", "json"} & set(done.stdout.split())


def test_it_joins_claude_code_and_is_on() -> None:
    info = plugin.asz_adapter()
    assert (info.joins, info.dialect, info.default_enabled) == (
        "Claude Code",
        "asz-changes/1",
        True,
    )
    assert info.meters is None


def test_options() -> None:
    assert Options().source_roots == []
    assert Options(source_root="/a").source_roots == ["/a"]
    assert Options(source_root=["/a", "", "/b"]).source_roots == ["/a", "/b"]
    with pytest.raises(ValidationError):
        Options.model_validate({"source_roots": "/a"})
