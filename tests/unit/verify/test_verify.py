import dataclasses
import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asz.assembly.model import Node, Ref
from asz.flow import sf
from asz.flow.chain import round_names
from asz.flow.parse import parse
from asz.storage.cursors import Cursor, SessionState
from asz.storage.root import Root
from asz.storage.sd import encode_closing
from asz.verify import Tally, verify
from asz_hookspecs.record import Record

from ...support.landed import Landing
from ...support.sessions import land_small, prompt, response


def said(root: Root) -> list[str]:
    return [str(problem) for problem in verify(root)]


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a landed file and close it again, so that only what it says is wrong."""
    body = b"".join(path.read_bytes().splitlines(True)[:-1])
    body = change(body)
    path.chmod(0o600)
    count = body.count(b"\n") - 1
    path.write_bytes(body + encode_closing(count, hashlib.sha256(body).hexdigest()))


def reseal(root: Root, number: int, change: Callable[[sf.Round], None]) -> None:
    """Change a round and commit it again under its right name."""
    name = round_names(root.conversation_dir("s1"))[number - 1]
    round_ = sf.read_round(name.path)
    change(round_)
    data, digest = sf.encode_round(round_.header, round_.frames)
    name.path.unlink()
    name.path.with_name(sf.file_name(number, digest)).write_bytes(data)


@pytest.fixture
def parsed(root: Root, landing: Landing) -> Landing:
    """Three landed files and a round for each."""
    land_small(landing)
    parse(root, "s1", max_round_bytes=1)
    return landing


def landed(landing: Landing, seq: int) -> Path:
    return next(landing.directory.glob(f"*/*/*-{seq:06d}.sd"))


def test_a_whole_root_has_no_problem_and_a_copy_neither(
    root: Root, parsed: Landing, tmp_path: Path
) -> None:
    tally = Tally()
    assert list(verify(root, None, tally)) == []
    assert dataclasses.astuple(tally) == (1, 3, 7, 0, 3)
    copy = tmp_path / "copy"
    shutil.copytree(root.path, copy, ignore=shutil.ignore_patterns("index", "state.db", "*.state"))
    before = sorted(copy.rglob("*"))
    assert said(Root.open(copy, write=False)) == []
    assert sorted(copy.rglob("*")) == before


def test_one_session_can_be_verified_alone(root: Root, parsed: Landing) -> None:
    other = Landing(root.path, "s2")
    other.write([prompt("u1")]).write_bytes(b"torn")
    assert list(verify(root, "s1")) == []
    assert len(list(verify(root, "s2"))) == 1
    assert len(said(root)) == 1


# ---------------------------------------------------------------- landed files


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda data: data[:-1], "no closing line, the file is cut"),
        (lambda data: data.replace(b"hello", b"hullo"), "digest does not match"),
        (lambda data: b"", "the file is cut"),
    ],
)
def test_a_damaged_landed_file_is_one_line(
    root: Root, parsed: Landing, harm: Callable[[bytes], bytes], problem: str
) -> None:
    path = landed(parsed, 3)
    path.write_bytes(harm(path.read_bytes()))
    [line] = said(root)
    assert line.startswith(f"s1/streams/a1/{path.name}: ")
    assert problem in line
    assert line.endswith("(sequence 3)")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"seq":1', b'"seq":7', "the header says sequence 7"),
        (b'"session":"s1"', b'"session":"s2"', "the header says session s2"),
        (b'"kind":"transcript"', b'"kind":"journal"', "the header says kind journal"),
        (b'"stream":"main"', b'"stream":"a1"', "it belongs to streams/a1"),
        (b'"at":"2026', b'"at":"2027', "it landed at 2027-09-01"),
    ],
)
def test_a_header_that_contradicts_its_files_place(
    root: Root, landing: Landing, old: bytes, new: bytes, problem: str
) -> None:
    rewrite(landing.write([prompt("u1")]), lambda body: body.replace(old, new, 1))
    [line] = said(root)
    assert problem in line


def test_a_gap_in_a_source_is_named(root: Root, landing: Landing) -> None:
    for name in ("u1", "u2", "u3"):
        landing.write([prompt(name), Record()])
    landed(landing, 2).unlink()
    [line] = said(root)
    assert "row 1: records 3 to 4 of the source are missing (sequence 3)" in line


def test_a_wrong_offset_is_named(root: Root, landing: Landing) -> None:
    path = landing.write([prompt("u1"), prompt("u2")])
    rewrite(path, lambda body: body.replace(b'"off":7', b'"off":8'))
    [line] = said(root)
    assert "row 2: record 2 begins at offset 8, the one before ends at 7" in line


def test_a_replay_is_counted_and_no_problem_unless_its_bytes_differ(
    root: Root, landing: Landing
) -> None:
    landing.write([prompt("u1"), prompt("u2")])
    replay = landing.write([prompt("u2"), prompt("u3")], rewind=2)
    tally = Tally()
    assert list(verify(root, None, tally)) == []
    assert (tally.records, tally.replayed) == (4, 1)
    rewrite(replay, lambda body: re.sub(rb'"sha":"..', b'"sha":"00', body, count=1))
    [line] = said(root)
    assert "row 1: record 2 of the source landed again with other bytes" in line


def test_generations_and_versions_of_a_document_are_readings_of_their_own(
    root: Root, landing: Landing
) -> None:
    landing.write([prompt("u1"), prompt("u2")])
    landing.write([prompt("v1")], gen=1)
    for label in ("one", "two"):
        landing.write([Record(child="a1", label=label)], kind="agent_meta", stream="a1")
    landing.write([Record(child="a1"), Record(child="a2")], kind="journal", batch="w1")
    assert said(root) == []


def test_a_renamed_source_goes_on_under_its_new_name(root: Root, landing: Landing) -> None:
    landing.write([prompt("u1"), prompt("u2")])
    path = landing.write([prompt("u3")])
    rewrite(path, lambda body: body.replace(b"p/main.transcript", b"p/moved.transcript"))
    assert said(root) == []


def test_two_files_of_one_sequence(root: Root, landing: Landing) -> None:
    landing.write([prompt("u1")])
    landing.seq = 0
    landing.write([prompt("c1")], stream="a1")
    [line] = said(root)
    assert "has the sequence of another landed file (sequence 1)" in line


@pytest.mark.parametrize(
    ("last_seq", "ord_", "offset", "problem"),
    [
        (2, 4, 28, None),
        (1, 1, 7, None),
        (2, 5, 28, "stands at record 5, offset 28; landed records end at record 4"),
        (2, 4, 99, "stands at record 4, offset 99"),
        (9, 4, 28, "follows a landed file that is not there (sequence 9)"),
        (0, 0, 0, None),
    ],
)
def test_a_cursor_may_lag_but_never_lead(
    root: Root, landing: Landing, last_seq: int, ord_: int, offset: int, problem: str | None
) -> None:
    landing.write([prompt("u1"), prompt("u2")])
    landing.write([prompt("u3"), prompt("u4")])
    cursor = Cursor(
        adapter="test", label="", key="p/main.transcript", src="p/main.transcript",
        kind="transcript", shape="lines", path="", place="streams/main",
        last_seq=last_seq, ord=ord_, offset=offset,
    )  # fmt: skip
    with SessionState.open(landing.directory) as state:
        state.save([cursor])
    lines = said(root)
    assert len(lines) == (0 if problem is None else 1)
    if problem is not None:
        assert problem in lines[0]
        assert lines[0].startswith("s1/state.db: the cursor of p/main.transcript")


# ---------------------------------------------------------------- rounds


def test_a_changed_round_is_named_and_the_rest_is_still_checked(
    root: Root, parsed: Landing
) -> None:
    name = round_names(root.conversation_dir("s1"))[1]
    name.path.chmod(0o600)
    name.path.write_bytes(name.path.read_bytes().replace(b"a title", b"A title"))
    landed(parsed, 3).unlink()
    first, second = said(root)
    assert first.startswith(f"_conversations/s1/rounds/{name.path.name}: digest does not match")
    assert first.endswith("(round 2)")
    assert "consumed landed files that are not there: sequence 3 (round 3)" in second


def test_a_missing_round(root: Root, parsed: Landing) -> None:
    round_names(root.conversation_dir("s1"))[0].path.unlink()
    assert said(root) == ["_conversations/s1/rounds: the round is missing (round 1)"]


def test_every_round_whose_landed_files_are_gone_is_named(root: Root, parsed: Landing) -> None:
    shutil.rmtree(parsed.directory)
    lines = said(root)
    assert [line[-9:] for line in lines] == ["(round 1)", "(round 2)", "(round 3)"]
    assert all("consumed landed files that are not there" in line for line in lines)


def test_other_evidence_than_was_consumed(root: Root, parsed: Landing) -> None:
    rewrite(landed(parsed, 1), lambda body: body.replace(b"hello", b"hullo"))
    [line] = said(root)
    assert "consumed other bytes than landed files 1 to 1 hold (round 1)" in line


@pytest.mark.parametrize(
    ("ref", "problem"),
    [
        (Ref(1, 9), "refers to row 9, the file has 2 (round 1, sequence 1)"),
        (Ref(1, 1, 4), "refers to block 4 of row 1, the record has 1"),
        (Ref(3, 1), "refers to sequence 3, which the round does not reach"),
        (Ref(0, 1), "refers to sequence 0"),
    ],
)
@pytest.mark.parametrize("place", ["ref", "refs", "attrs", "evidence"])
def test_a_reference_that_leads_nowhere(
    root: Root, landing: Landing, ref: Ref, problem: str, place: str
) -> None:
    landing.write([prompt("u1"), response("a1", "u1")])
    parse(root, "s1")

    def change(round_: sf.Round) -> None:
        if place == "evidence":
            round_.frames.relations[0].evidence = (ref,)
            return
        node = next(node for node in round_.frames.nodes if node.kind == "llm.call")
        if place == "attrs":
            node.attrs["usage_at"] = {"seq": ref.seq, "row": ref.row}
        else:
            setattr(node, place, ref if place == "ref" else (ref,))

    reseal(root, 1, change)
    lines = said(root)
    if place == "attrs" and ref.block is not None:
        assert lines == []
    else:
        assert len(lines) == 1
        assert problem in lines[0]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda r: setattr(r.header, "steps", 99), "the header counts 99 steps, the fold holds 2"),
        (
            lambda r: setattr(r.header, "unresolved", 1),
            "counts 1 open references, the fold holds 0",
        ),
        (lambda r: setattr(r.header, "round", 2), "the header says round 2"),
        (lambda r: setattr(r.header, "conversation", "x"), "the header says conversation x"),
        (lambda r: setattr(r.header, "previous", "00"), "does not begin a chain"),
        (lambda r: setattr(r.header, "input_digest", "00"), "consumed other bytes"),
        (lambda r: setattr(r.frames.nodes[0], "revision", 7), "says revision 7"),
        (lambda r: setattr(r.frames.nodes[0], "parent", "run/none"), "hangs from run/none"),
        (lambda r: setattr(r.frames.relations[0], "to", "talk/none"), "names talk/none"),
        (lambda r: r.frames.nodes.append(Node("zz", 1, "tool", "session/s1")), "the fold holds 3"),
    ],
)
def test_what_a_well_formed_round_may_get_wrong(
    root: Root, landing: Landing, change: Callable[[sf.Round], None], problem: str
) -> None:
    landing.write([prompt("u1")])
    landing.write([prompt("c1")], stream="a1", kind="transcript")
    landing.write([Record(child="a1", started_by="x")], stream="a1", kind="agent_meta")
    parse(root, "s1")
    assert said(root) == []
    reseal(root, 1, change)
    assert any(problem in line for line in said(root))


def test_problems_are_one_line_each(root: Root, landing: Landing) -> None:
    path = landing.write([prompt("u1")])
    rewrite(path, lambda body: body.replace(b'"session":"s1"', b'"session":"a b"'))
    assert all("\n" not in line for line in said(root))
