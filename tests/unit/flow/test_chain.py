import hashlib
from pathlib import Path

import pytest

from asz.flow.chain import input_digest, read_chain, round_names
from asz.flow.fold import fold
from asz.flow.parse import parse
from asz.storage.root import Root

from ...support.landed import Landing
from ...support.sessions import land_small, prompt, response


@pytest.fixture
def rounds(root: Root, landing: Landing) -> Path:
    """A chain of three rounds."""
    land_small(landing)
    assert parse(root, "s1", max_round_bytes=1).rounds_written == 3
    return root.conversation_dir("s1")


def test_the_input_digest_chains_sorted_file_digests() -> None:
    first = hashlib.sha256(b"\0" + b"aa" + b"\0" + b"bb").hexdigest()
    assert input_digest("", ["bb", "aa"]) == first
    assert input_digest(first, ["cc"]) == hashlib.sha256(first.encode() + b"\0cc").hexdigest()


def test_a_whole_chain(rounds: Path) -> None:
    chain = read_chain(rounds)
    assert chain.problem is None
    assert [r.header.round for r in chain.rounds] == [1, 2, 3]
    assert [(r.header.from_seq, r.header.through_seq) for r in chain.rounds] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]
    assert chain.rounds[1].header.previous == chain.rounds[0].digest
    assert chain.rounds[0].header.previous is None


def test_the_last_writer_wins_and_a_resolved_reference_stays(rounds: Path) -> None:
    chain = read_chain(rounds).rounds
    first, whole = fold(chain[:1]), fold(chain)
    assert first.unresolved["unres/tool_result/t1"].state == "open"
    assert first.nodes["tool/t1"].attrs["result"] == "unavailable"
    assert whole.unresolved["unres/tool_result/t1"].state == "resolved"
    assert (whole.nodes["tool/t1"].attrs["result"], whole.nodes["tool/t1"].revision) == (
        "available",
        2,
    )
    assert whole.nodes["input/1/1"].revision == 1
    assert whole.head == chain[-1].header


@pytest.mark.parametrize(
    ("harm", "left", "said"),
    [
        ("remove 1", 0, "round 1 is missing"),
        ("remove 2", 1, "round 2 is missing"),
        ("cut 2", 1, "commit line"),
        ("change 3", 2, "digest"),
        ("rename 2", 1, "file name holds another digest"),
        ("twice 2", 2, "there twice"),
    ],
)
def test_a_broken_chain_is_read_up_to_the_break(
    rounds: Path, harm: str, left: int, said: str
) -> None:
    what, number = harm.split()
    path = round_names(rounds)[int(number) - 1].path
    data = path.read_bytes()
    path.unlink()
    if what == "cut":
        path.write_bytes(data[:-10])
    elif what == "change":
        path.write_bytes(data.replace(b'"kind"', b'"Kind"', 1))
    elif what == "rename":
        (path.parent / "r000002-000000000000.sf").write_bytes(data)
    elif what == "twice":
        path.write_bytes(data)
        (path.parent / "r000002-ffffffffffff.sf").write_bytes(data)
    chain = read_chain(rounds)
    assert len(chain.rounds) == left
    assert chain.problem is not None
    assert said in chain.problem


def test_a_round_of_another_chain_does_not_link(root: Root, rounds: Path) -> None:
    other = Landing(root.path, "s2")
    for name in ("u1", "u2"):
        other.write([prompt(name), response(f"a-{name}", name)])
    parse(root, "s2", max_round_bytes=1)
    theirs = round_names(root.conversation_dir("s2"))[1].path
    round_names(rounds)[1].path.unlink()
    (rounds / "rounds" / theirs.name).write_bytes(theirs.read_bytes())
    chain = read_chain(rounds)
    assert len(chain.rounds) == 1
    assert chain.problem is not None
    assert "does not name round 1" in chain.problem
