"""Every scenario through the real command line, and what must hold of any session whatever it says."""

from pathlib import Path
from typing import Any, Final

import pytest

from ..support.pipeline import Pipeline, plain
from .builder import Scenario
from .changes import told_changes
from .expect import differences, round_differences
from .replayed import land_again
from .shown import Namer, Shown

HERE: Final = Path(__file__).parent
FILES: Final = sorted((*HERE.glob("*.yaml"), *HERE.glob("sample/*.yaml")))
ONE_ROUND_A_FILE: Final = "parse: {max_round_bytes: 1}\n"
PASSES: Final = ("landed", "records", "conflicts", "errors")


class Play:
    """A scenario and the root it is collected into."""

    def __init__(self, path: Path, home: Path, changes: bool = True) -> None:
        self.path, self.scenario = path, Scenario(path)
        self.session = self.scenario.session
        self.pipeline = Pipeline(home, home / "projects", changes=changes)

    def write(self, checkpoint: dict[str, Any], *, backwards: bool = False) -> None:
        """Write a checkpoint's files."""
        self.scenario.write(self.pipeline.projects, checkpoint, backwards=backwards)

    def replay(self, checkpoint: dict[str, Any]) -> None:
        """Land the stream again that a checkpoint's ``replay`` names."""
        if "replay" in checkpoint:
            landed = self.pipeline.landed(self.session)
            file = next(f for f in landed if f.header.stream == checkpoint["replay"])
            land_again(file, landed[-1].header.seq + 1)

    def collect(self) -> dict[str, int]:
        """One pass that must not complain; the numbers of its line."""
        outcome = self.pipeline.collect()
        assert outcome.status == 0, outcome.err
        return outcome.counts

    def all(self, *, backwards: bool = False, at_once: bool = False) -> "Play":
        """Write and collect every checkpoint; ``at_once``: one pass over them all."""
        for checkpoint in self.scenario.checkpoints:
            self.write(checkpoint, backwards=backwards)
            if not at_once:
                self.replay(checkpoint)
                self.collect()
        if at_once:
            self.collect()
        return self

    def shown(self) -> Shown:
        """The fold in the scenario's names."""
        if not self.pipeline.rounds(self.session):
            return Shown()
        namer = Namer(self.scenario, self.pipeline.landed(self.session))
        return namer.show(self.pipeline.folded(self.session))


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Each scenario once, collected at each checkpoint. Tests that change the root work on a copy."""
    return Play(request.param, tmp_path_factory.mktemp("played")).all()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_expectations(path: Path, tmp_path: Path) -> None:
    play, found = Play(path, tmp_path), []
    for number, checkpoint in enumerate(play.scenario.checkpoints, 1):
        before, rounds = play.shown(), len(play.pipeline.rounds(play.session))
        play.write(checkpoint)
        play.replay(checkpoint)
        counts, expected = play.collect(), checkpoint["expect"]
        after = play.shown()
        wrong = differences(expected, after)
        wrong += round_differences(expected.get("round", {}), before, after, rounds + 1)
        told = {"rounds": len(play.pipeline.rounds(play.session)) - rounds}
        told |= {"landed": counts["records"], "damaged": counts["damaged"]}
        for key in told.keys() & expected.keys():
            if told[key] != expected[key]:
                wrong.append(f"{key} is {told[key]}, expected {expected[key]}")
        if "changes" in expected:
            held = told_changes(play.scenario, play.pipeline.landed(play.session))
            wrong += [
                f"changes: {one} is not expected" for one in held if one not in expected["changes"]
            ]
            wrong += [
                f"changes: {one} is not told" for one in expected["changes"] if one not in held
            ]
        found += [f"checkpoint {number}: {line}" for line in wrong]
    assert not found, "\n".join(found)


def test_fold_is_assembly_after_every_round(played: Play) -> None:
    pipeline, session = played.pipeline, played.session
    chain = pipeline.chain(session)
    assert chain
    for number, round_ in enumerate(chain, 1):
        folded = pipeline.folded(session, number)
        assert plain(folded) == plain(pipeline.assembled(session, round_.header.through_seq))


def test_one_round_for_each_landed_file(played: Play, tmp_path: Path) -> None:
    pipeline = played.pipeline.copy(tmp_path, ONE_ROUND_A_FILE)
    before = plain(pipeline.folded(played.session))
    rebuilt = pipeline.asz("parse", played.session, "--rebuild")
    assert rebuilt.status == 0, rebuilt.err
    chain = pipeline.chain(played.session)
    assert len(chain) == len(pipeline.landed(played.session))
    for number, round_ in enumerate(chain, 1):
        folded = pipeline.folded(played.session, number)
        assert plain(folded) == plain(pipeline.assembled(played.session, round_.header.through_seq))
    assert plain(pipeline.folded(played.session)) == before


def test_nothing_lands_twice(played: Play, tmp_path: Path) -> None:
    pipeline = played.pipeline.copy(tmp_path)
    files = {path: path.read_bytes() for path in pipeline.root.glob("*/*/*/*.sd")}
    rounds = pipeline.rounds(played.session)
    for forget in (False, True):
        if forget:
            pipeline.forget(played.session)
        outcome = pipeline.collect()
        assert outcome.status == 0, outcome.err
        assert {name: outcome.counts[name] for name in PASSES} == dict.fromkeys(PASSES, 0)
        assert {path: path.read_bytes() for path in pipeline.root.glob("*/*/*/*.sd")} == files
        assert pipeline.rounds(played.session) == rounds


def test_order_of_discovery_does_not_matter(played: Play, tmp_path: Path) -> None:
    backwards = Play(played.path, tmp_path).all(backwards=True)
    assert backwards.shown() == played.shown()


def test_two_roots_of_one_source_agree(played: Play, tmp_path: Path) -> None:
    first, second = (
        Play(played.path, tmp_path / name).all(at_once=True) for name in ("one", "two")
    )
    assert first.shown() == second.shown()
    if played.scenario.cut_anywhere:
        assert first.shown().structure() == played.shown().structure()


def test_workspace_changes_are_no_structure(tmp_path: Path) -> None:
    path = HERE / "workspace-changes.yaml"
    told = Play(path, tmp_path / "told").all()
    landed = told.pipeline.landed(told.session)
    assert {change["by"] for change in told_changes(told.scenario, landed)} == {
        "claude-code",
        "asz-plugin",
    }
    without_plugin = Play(path, tmp_path / "without plugin", changes=False).all()
    assert without_plugin.shown().structure() == told.shown().structure()

    silent = Play(path, tmp_path / "silent", changes=False)
    for checkpoint in silent.scenario.checkpoints:
        for item in checkpoint["write"].get("main", []):
            if {"filePath", "notebook_path"} & set(item.get("detail", ())):
                item["detail"] = None
    silent.all()
    assert told_changes(silent.scenario, silent.pipeline.landed(silent.session)) == []
    assert silent.shown().structure() == told.shown().structure()


def test_verify_finds_nothing(played: Play) -> None:
    outcome = played.pipeline.asz("verify", played.session)
    assert (outcome.status, outcome.err) == (0, "")


def test_conversation_prints_the_fold(played: Play) -> None:
    printed = played.pipeline.conversation(played.session)
    folded = played.pipeline.folded(played.session)
    assert {node["id"] for node in printed["nodes"]} == set(folded.nodes)
