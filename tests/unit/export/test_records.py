"""Times and owners that are looked up beside the file itself."""

from pathlib import Path

import pytest

from asz.export.records import session_latest
from asz.flow.parse import parse
from asz.storage.root import Root
from asz.storage.times import parse_ns

from ...support.landed import Landing
from ...support.sessions import land_small, prompt

LATE = "2026-09-02T00:00:00Z"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root(tmp_path / "root")
    root.make()
    return root


def test_the_latest_time_of_a_session_is_found_with_and_without_a_chain(root: Root) -> None:
    landing = Landing(root.path, "s1")
    land_small(landing)
    expected = parse_ns("2026-09-01T09:00:01Z")
    assert session_latest(root, "s1") == expected
    landing.index()
    parse(root, "s1")
    assert session_latest(root, "s1") == expected
    landing.write([prompt("later", time=LATE)])
    assert session_latest(root, "s1") == parse_ns(LATE)


def test_a_damaged_file_or_round_does_not_hide_the_others(root: Root) -> None:
    landing = Landing(root.path, "s1")
    first = landing.write([prompt("u1", time=LATE)])
    landing.write([prompt("u2")])
    landing.index()
    parse(root, "s1")
    for path in (first, *root.conversation_dir("s1").glob("rounds/*.sf")):
        path.chmod(0o600)
        path.write_bytes(b"damaged\n")
    assert session_latest(root, "s1") == parse_ns("2026-09-01T09:00:00Z")


def test_a_session_without_times_has_no_latest(root: Root) -> None:
    Landing(root.path, "s1").write([prompt("u1", time="noon")])
    assert session_latest(root, "s1") == 0
    assert session_latest(root, "no-such-session") == 0
