"""The sample history, as what is collected when something goes wrong."""

from pathlib import Path

import pytest

import asz_claude_code


@pytest.fixture(scope="session")
def sample() -> Path:
    return Path(asz_claude_code.__file__).parent / "sample" / "projects"
