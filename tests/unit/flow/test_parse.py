import json
import os
import re
import shutil
from pathlib import Path

import pytest

from asz.assembly.model import PARSER
from asz.errors import BusyError, ChainError, NotFoundError
from asz.flow import parse as parsing
from asz.flow import rules
from asz.flow.chain import read_chain, round_names
from asz.flow.fold import fold
from asz.flow.keeping import ChainKeeper
from asz.flow.listing import conversations
from asz.flow.parse import parse
from asz.flow.sf import encode_round
from asz.storage.locks import hold
from asz.storage.root import Root
from asz_hookspecs.record import Record

from ...support.landed import Landing
from ...support.sessions import answer, land_small, prompt, response, use


def rounds_of(root: Root) -> dict[str, bytes]:
    return {n.path.name: n.path.read_bytes() for n in round_names(root.conversation_dir("s1"))}


def test_a_round_says_what_it_consumed_and_what_the_fold_holds(
    root: Root, landing: Landing
) -> None:
    land_small(landing)
    done = parse(root, "s1")
    assert (done.rounds_written, done.rounds, done.through_seq) == (1, 1, 3)
    [round_] = read_chain(root.conversation_dir("s1")).rounds
    said = round_.header
    assert (said.title, said.talks, said.streams, said.segments, said.unresolved) == (
        "a title",
        2,
        2,
        1,
        1,
    )
    assert (said.from_time, said.through_time) == ("2026-09-01T09:00:00Z", "2026-09-01T09:00:01Z")
    assert said.steps == fold([round_]).count_steps() == 9


def test_a_second_parse_writes_nothing(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    before = rounds_of(root)
    assert parse(root, "s1").rounds_written == 0
    assert rounds_of(root) == before


def test_growth_adds_only_what_changed(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    landing.write([prompt("u2", "2026-09-01T09:01:00Z")])
    parse(root, "s1")
    last = read_chain(root.conversation_dir("s1")).rounds[-1]
    assert [node.id for node in last.frames.nodes] == [
        "input/4/1",
        "run/talk_main_run-u2/run-u2",
        "segment/at_1_1",
        "talk/main/run-u2",
    ]
    assert last.header.from_time == last.header.session_through_time == "2026-09-01T09:01:00Z"
    assert last.header.session_from_time == "2026-09-01T09:00:00Z"


def test_a_round_is_written_when_evidence_advanced_without_structure(
    root: Root, landing: Landing
) -> None:
    land_small(landing)
    parse(root, "s1")
    landing.write([Record(), Record()])
    assert parse(root, "s1").rounds_written == 1
    last = read_chain(root.conversation_dir("s1")).rounds[-1]
    assert list(last.frames) == []
    assert (last.header.from_seq, last.header.through_seq, last.header.from_time) == (4, 4, None)


def test_what_is_gone_gets_a_tombstone_and_a_reference_may_open_again(
    root: Root, landing: Landing
) -> None:
    landing.write([prompt("u1"), response("a1", "u1", use("t1"))])
    parse(root, "s1")
    landing.write([answer("b1", "a1", "t1")])
    parse(root, "s1")
    landing.write([answer("b2", "a1", "t1"), Record(id="u1b", run="run-u1", trigger="external")])
    parse(root, "s1")
    states = [
        [(entry.id, entry.state, entry.revision) for entry in round_.frames.unresolved]
        for round_ in read_chain(root.conversation_dir("s1")).rounds
    ]
    name = "unres/tool_result/t1"
    assert states == [[(name, "open", 1)], [(name, "resolved", 2)], [(name, "open", 3)]]


def test_a_trigger_that_lands_later_moves_a_run_and_removes_its_talk(
    root: Root, landing: Landing
) -> None:
    landing.write([prompt("u1"), Record(id="n1", run="r2")])
    parse(root, "s1")
    landing.write([Record(id="n2", run="r2", trigger="notification")])
    parse(root, "s1")
    last = read_chain(root.conversation_dir("s1")).rounds[-1]
    gone = [node.id for node in last.frames.nodes if node.tombstone]
    assert gone == ["run/talk_main_r2/r2", "talk/main/r2"]
    assert [relation.id for relation in last.frames.relations if relation.tombstone] == [
        "rel/in_segment/talk_main_r2/segment_at%5F1%5F1"
    ]
    held = fold(read_chain(root.conversation_dir("s1")).rounds)
    assert "talk/main/r2" not in held.nodes
    assert held.nodes["run/talk_main_run-u1/r2"].parent == "talk/main/run-u1"


def test_the_same_files_give_the_same_bytes(root: Root, landing: Landing, tmp_path: Path) -> None:
    land_small(landing)
    copy = Root(tmp_path / "copy")
    shutil.copytree(root.path, copy.path)
    parse(root, "s1", max_round_bytes=2000)
    parse(copy, "s1", max_round_bytes=2000)
    assert rounds_of(root) == rounds_of(copy)
    assert "conversation.state" in {p.name for p in root.conversation_dir("s1").iterdir()}


def test_rounds_keep_to_their_budget_and_a_quarter(root: Root, landing: Landing) -> None:
    for number in range(60):
        landing.write(
            [prompt(f"u{number}"), response(f"a{number}", f"u{number}", use(f"t{number}"))]
        )
    for number in range(60):
        landing.write([answer(f"b{number}", f"a{number}", f"t{number}")])
    budget = 12_000
    parse(root, "s1", max_round_bytes=budget)
    names = round_names(root.conversation_dir("s1"))
    sizes = [name.path.stat().st_size for name in names]
    assert len(names) > 5
    assert max(sizes) <= budget * 5 // 4
    assert min(sizes[:-1]) > budget // 4


def test_private_and_write_once(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    directory = root.conversation_dir("s1")
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in directory.rglob("*")}
    assert modes.pop("rounds") == "0o700"
    [name] = [name for name in modes if name.endswith(".sf")]
    assert modes[name] == "0o400"
    assert modes["conversation.state"] == "0o600"


def test_no_wall_clock_and_no_path_in_a_round(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    text = b"".join(rounds_of(root).values()).decode()
    assert set(re.findall(r"\d{4}-\d\d-\d\dT", text)) == {"2026-09-01T"}
    assert str(root.path) not in text


# ---------------------------------------------------------------- the cache


@pytest.mark.parametrize("damage", ["missing", "garbage", "other head", "other format"])
def test_a_lost_or_damaged_cache_is_made_again(root: Root, landing: Landing, damage: str) -> None:
    land_small(landing)
    parse(root, "s1")
    path = root.conversation_dir("s1") / "conversation.state"
    good = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"\xff{")
    else:
        held = json.loads(good)
        held["digest" if damage == "other head" else "format"] = "0" * 64
        path.write_text(json.dumps(held))
    assert parse(root, "s1").rounds_written == 0
    assert path.read_bytes() == good


# ---------------------------------------------------------------- refusals


def test_a_session_that_is_not_there(root: Root) -> None:
    with pytest.raises(NotFoundError, match="no session s9"):
        parse(root, "s9")
    assert root.conversations() == []


def test_a_session_in_which_nothing_landed_gets_no_chain(root: Root, landing: Landing) -> None:
    assert parse(root, "s1").rounds == 0
    assert root.conversations() == []


def test_two_parsers_cannot_fork_a_chain(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    with hold(root.conversation_dir("s1") / ".lock"), pytest.raises(BusyError):
        parse(root, "s1")


def test_beside_a_collector_the_index_is_used_as_it_is(root: Root, landing: Landing) -> None:
    land_small(landing)
    landing.index()
    landing.write([prompt("u2")])
    with hold(landing.directory / ".lock"):
        assert parse(root, "s1").through_seq == 3
    assert parse(root, "s1").through_seq == 4


def test_a_damaged_chain_is_refused_until_it_is_rebuilt(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1", max_round_bytes=1)
    before = rounds_of(root)
    round_names(root.conversation_dir("s1"))[1].path.unlink()
    landing.write([prompt("u2")])
    with pytest.raises(ChainError, match=r"round 2 is missing; run: asz parse --rebuild s1$"):
        parse(root, "s1", max_round_bytes=1)
    assert parse(root, "s1", max_round_bytes=1, rebuild=True).rounds == 4
    assert before.items() < rounds_of(root).items()
    assert parse(root, "s1", rebuild=True).rounds == 1
    assert {"rounds.1", "rounds.2"} < {p.name for p in root.conversation_dir("s1").iterdir()}


def test_a_damaged_chain_is_refused_also_when_nothing_is_new(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1", max_round_bytes=1)
    path = round_names(root.conversation_dir("s1"))[0].path
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"2026-09-01", b"2026-09-02", 1))
    with pytest.raises(ChainError, match=r"the round was changed; run: asz parse --rebuild s1$"):
        parse(root, "s1")
    assert parse(root, "s1", trust_cache=True).rounds_written == 0


def parsed_by(parser: str, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of other rules than today's."""
    with monkeypatch.context() as patch:
        patch.setattr(parsing, "PARSER", parser)
        patch.setattr(rules, "PARSER", parser)
        parse(root, "s1")


def test_a_chain_of_older_rules_is_set_aside_and_begun_again(
    root: Root, landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    land_small(landing)
    parsed_by("v0", root, monkeypatch)
    directory = root.conversation_dir("s1")
    [older] = round_names(directory)
    before = older.path.read_bytes()
    assert conversations(root)[0].state == "outdated"
    assert ChainKeeper().behind(root, "s1")
    done = parse(root, "s1", trust_cache=True)
    assert (done.renewed, done.rounds_written, done.rounds) == (True, 1, 1)
    assert (directory / "rounds.1" / older.path.name).read_bytes() == before
    assert read_chain(directory).rounds[0].header.parser == PARSER
    assert conversations(root)[0].state == "current"
    assert not ChainKeeper().behind(root, "s1")
    assert not parse(root, "s1").renewed


def test_a_chain_of_newer_rules_is_left_alone(
    root: Root, landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    land_small(landing)
    parsed_by("v99", root, monkeypatch)
    for trust_cache in (True, False):
        with pytest.raises(
            ChainError, match=r"written by a newer asz, with parser v99 .*upgrade asz"
        ):
            parse(root, "s1", trust_cache=trust_cache)
    assert os.listdir(root.conversation_dir("s1") / "rounds")
    assert not (root.conversation_dir("s1") / "rounds.1").exists()


def test_a_chain_of_older_rules_stays_when_what_it_consumed_is_gone(
    root: Root, landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    land_small(landing)
    parsed_by("v0", root, monkeypatch)
    next(landing.directory.glob("streams/a1/*.sd")).unlink()
    shutil.rmtree(landing.directory / "index")
    with pytest.raises(ChainError, match="landed files are missing"):
        parse(root, "s1")
    assert not (root.conversation_dir("s1") / "rounds.1").exists()


def test_an_index_behind_the_chain_is_refused(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    next(landing.directory.glob("streams/a1/*.sd")).unlink()
    shutil.rmtree(landing.directory / "index")
    with pytest.raises(ChainError, match="landed files are missing"):
        parse(root, "s1")


def test_changed_evidence_is_refused(root: Root, landing: Landing) -> None:
    landing.write([prompt("u1")])
    parse(root, "s1")
    landing.seq = 0
    landing.write([prompt("other")])
    landing.write([prompt("u2")])
    shutil.rmtree(landing.directory / "index")
    with pytest.raises(ChainError, match="consumed other bytes than landed files 1 to 1 hold"):
        parse(root, "s1")


def test_a_damaged_landed_file_is_named_and_what_lies_before_it_is_parsed(
    root: Root, landing: Landing
) -> None:
    land_small(landing)
    path = next(landing.directory.glob("streams/a1/*.sd"))
    path.write_bytes(path.read_bytes()[:-5])
    done = parse(root, "s1")
    assert done.through_seq == 2
    assert done.problem is not None
    assert path.name in done.problem


def test_a_round_whose_header_lies_about_its_place_is_refused(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    [round_] = read_chain(root.conversation_dir("s1")).rounds
    round_.header.from_seq = 2
    data, digest = encode_round(round_.header, round_.frames)
    [name] = round_names(root.conversation_dir("s1"))
    name.path.unlink()
    name.path.with_name(f"r000001-{digest[:12]}.sf").write_bytes(data)
    with pytest.raises(ChainError, match="does not begin a chain"):
        parse(root, "s1")


def test_a_chain_over_other_landed_files_is_refused_also_when_their_numbers_agree(
    root: Root, landing: Landing
) -> None:
    land_small(landing)
    parse(root, "s1")
    shutil.rmtree(root.session_dir("s1"))
    again = Landing(root.path)
    for number in range(3):
        again.write([prompt(f"other{number}", "2026-09-01T09:05:00Z")])
    for _ in range(2):
        with pytest.raises(ChainError, match="--rebuild"):
            parse(root, "s1")
    assert parse(root, "s1", rebuild=True).rounds_written == 1
