"""Generated trees: what asz makes of one is what the generator says it wrote."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from ..support.pipeline import Pipeline, plain
from .compare import differences, sources_of

GENERATOR: Final = Path(__file__).parent / "corpus" / "corpusgen.py"
TREES: Final = (("none", 1), ("low", 2), ("normal", 3), ("high", 4), ("high", 5))


class Tree:
    """A generated tree and the root it is collected into."""

    def __init__(self, home: Path, hazards: str, seed: int) -> None:
        self.home, self.truth = home / "tree", home / "truth.json"
        size = ("--sessions", "6", "--target-bytes", "1e6")
        self._generate("--seed", str(seed), "--hazards", hazards, "--plugin-data", *size)
        self.pipeline = Pipeline(home / "asz", self.home / "projects", changes=True)

    def grow(self) -> None:
        """Append a third of the tree's bytes to it."""
        self._generate("--grow", "0.3")

    def _generate(self, *args: str) -> None:
        command = [
            sys.executable,
            str(GENERATOR),
            str(self.home),
            *args,
            "--truth",
            str(self.truth),
        ]
        subprocess.run(command, check=True, capture_output=True)

    def collect(self) -> dict[str, int]:
        """One pass that must not complain."""
        outcome = self.pipeline.collect()
        assert outcome.status == 0, outcome.err
        return outcome.counts

    def differences(self) -> list[str]:
        """What asz holds that the generator did not write, and the other way round."""
        told: dict[str, Any] = json.loads(self.truth.read_text())
        sources = sources_of(json.loads(self.pipeline.asz("sources", "--json").out))
        return differences(self.pipeline.projects, self.pipeline.root, told, sources)


@pytest.mark.parametrize(("hazards", "seed"), TREES)
def test_the_fold_is_the_truth(hazards: str, seed: int, tmp_path: Path) -> None:
    tree = Tree(tmp_path, hazards, seed)
    counts = tree.collect()
    assert counts["conflicts"] == 0
    found = tree.differences()
    assert not found, "\n".join(found[:40])

    tree.grow()
    tree.collect()
    found = tree.differences()
    assert not found, "\n".join(found[:40])
    for session in tree.pipeline.sessions():
        assert plain(tree.pipeline.folded(session)) == plain(tree.pipeline.assembled(session))
    outcome = tree.pipeline.asz("verify")
    assert (outcome.status, outcome.err) == (0, "")


def test_a_tree_that_grew_folds_like_one_that_was_there_at_once(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "normal", 6)
    tree.grow()
    tree.collect()
    found = tree.differences()
    assert not found, "\n".join(found[:40])


def test_small_rounds_fold_to_the_same(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "low", 8)
    tree.collect()
    small = tree.pipeline.copy(tmp_path / "small", "parse: {max_round_bytes: 8192}\n")
    outcome = small.asz("parse", "--rebuild")
    assert outcome.status == 0, outcome.err
    rounds = {session: small.chain(session) for session in small.sessions()}
    assert max(map(len, rounds.values())) > 5
    for session, chain in rounds.items():
        assert plain(small.folded(session)) == plain(tree.pipeline.folded(session))
        for number in range(1, len(chain), 3):
            through = chain[number - 1].header.through_seq
            assert plain(small.folded(session, number)) == plain(small.assembled(session, through))


def test_the_comparison_finds_what_is_wrong(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "none", 7)
    tree.collect()
    told = json.loads(tree.truth.read_text())
    session = next(iter(told["sessions"]))
    told["sessions"][session]["title"] = "something else"
    told["sessions"][session]["steps"]["tool"] += 1
    told["sessions"][session]["calls"]["digest"] = "0" * 16
    tree.truth.write_text(json.dumps(told))
    assert [line.split(": ")[1] for line in tree.differences()] == [
        "calls.digest",
        "steps.tool",
        "title",
    ]
