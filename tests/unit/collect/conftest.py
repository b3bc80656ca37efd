"""A place to collect in."""

from pathlib import Path

import pytest

from ...support.plain import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
