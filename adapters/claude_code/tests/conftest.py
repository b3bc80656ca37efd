"""Trees on disk."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .tree import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty source root."""
    return Tree(tmp_path / "projects")


@pytest.fixture
def open_tree() -> Iterator[Tree]:
    """An empty source root that every user can enter; pytest's own directories are closed."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        yield Tree(base / "projects")
