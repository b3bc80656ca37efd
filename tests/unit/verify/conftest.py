from pathlib import Path

import pytest

from asz.storage.root import Root

from ...support.landed import Landing


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """An empty storage root."""
    root = Root.open(tmp_path / "root", write=True)
    root.make()
    return root


@pytest.fixture
def landing(root: Root) -> Landing:
    """Lands files of one session into it."""
    return Landing(root.path)
