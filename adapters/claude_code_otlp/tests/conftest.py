"""One receiver for each test."""

from collections.abc import Iterator

import pytest

from .serving import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver on the loopback address."""
    with Receiver() as made:
        yield made
