"""Many sessions are parsed in several processes, with what one process makes of them."""

from pathlib import Path

import pytest

from asz.flow import many
from asz.flow.chain import round_names
from asz.flow.many import Job, parse_many
from asz.flow.parse import Parsed
from asz.storage.root import Root

from ...support.landed import Landing
from ...support.sessions import prompt


def roots(tmp_path: Path, name: str) -> Root:
    root = Root.open(tmp_path / name, write=True)
    root.make()
    for number in range(5):
        landing = Landing(root.path, f"s{number}")
        landing.write([prompt(f"u{number}")])
        landing.write([prompt(f"v{number}")])
    return root


def chains(root: Root) -> dict[str, bytes]:
    return {
        name.path.name: name.path.read_bytes()
        for session in root.conversations()
        for name in round_names(root.conversation_dir(session))
    }


def test_processes_write_the_chains_one_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, shared = roots(tmp_path, "alone"), roots(tmp_path, "shared")
    sessions = alone.sessions()
    one = list(parse_many(Job(alone, 1, rebuild=False), sessions))
    monkeypatch.setattr(many, "POOL_BYTES", 0)
    several = list(parse_many(Job(shared, 1, rebuild=False), sessions))
    assert one == several
    assert [session for session, _outcome in several] == sessions
    assert len(chains(alone)) == 10
    assert chains(alone) == chains(shared)


def test_a_session_that_cannot_be_parsed_costs_itself_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = roots(tmp_path, "root")
    monkeypatch.setattr(many, "POOL_BYTES", 0)
    sessions = ["s0", "not-there", "s4"]
    outcomes = dict(parse_many(Job(root, 1, rebuild=False), sessions))
    assert str(outcomes["not-there"]) == "no session not-there: nothing of it has landed"
    assert isinstance(outcomes["s0"], Parsed)
    assert isinstance(outcomes["s4"], Parsed)
