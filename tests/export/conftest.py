"""A root with everything there is to send, and receivers of both protocols."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import asz_claude_code

from ..support.otlp import Listening, grpc_receiver, http_receiver
from ..support.pipeline import Pipeline
from ..support.pushing import Place, spool_request

SMALL = "collector: {max_delta_bytes: 8000}\nparse: {max_round_bytes: 8000}\n"


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample in many small files and rounds, and three requests in the spool."""
    sample = Path(asz_claude_code.__file__).parent / "sample" / "projects"
    pipeline = Pipeline(tmp_path_factory.mktemp("collected"), sample, collector=SMALL)
    assert pipeline.collect().status == 0
    for seq in (1, 2, 3):
        spool_request(pipeline.root, seq)
    return pipeline.root


@pytest.fixture
def place(collected: Path, tmp_path: Path) -> Place:
    """A copy of it of the test's own."""
    shutil.copytree(collected, tmp_path / "root")
    return Place(tmp_path)


@pytest.fixture(params=["grpc", "http"])
def receiver(request: pytest.FixtureRequest) -> Iterator[Listening]:
    """A receiver of each protocol."""
    with grpc_receiver() if request.param == "grpc" else http_receiver() as listening:
        yield listening
