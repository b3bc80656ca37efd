"""Small inputs after public bug reports of other programs, each with the answer that is right."""

import json
import shutil
from pathlib import Path
from typing import Final

import pytest

from .reading import Case, data_of

LONG_LINE: Final = 1_049_263
"""Bytes of the long line of case 11."""


def test_usage_grows_over_fragments(tmp_path: Path) -> None:
    case = Case("01-usage-grows-over-fragments", tmp_path)
    case.collect()
    assert [call.attrs["fragments"] for call in case.nodes("llm.call")] == [3, 1]
    assert list(case.output_tokens().values()) == [159, 21]


def test_gateway_without_request_id(tmp_path: Path) -> None:
    case = Case("03-gateway-without-request-id", tmp_path)
    case.collect()
    assert list(case.output_tokens().values()) == [44, 7]
    (synthetic,) = case.nodes("message.synthetic")
    assert synthetic.parent is not None
    assert synthetic.parent.startswith("run/")


def test_boundary_parent_not_on_disk(tmp_path: Path) -> None:
    case = Case("05-boundary-parent-not-on-disk", tmp_path)
    case.collect()
    kinds = case.kinds()
    assert (kinds["epoch"], kinds["message.external"], kinds["llm.call"]) == (2, 3, 3)
    assert case.open() == {"epoch_continuation": ["fc229599-cde8-44a7-8ca6-5d925b598ed1"]}
    lost = "63e547a5-6ef5-419c-82b6-476669515485"
    records = case.records()
    assert len(records) == len(case.transcript().read_bytes().splitlines())
    assert lost in {record.parent for record in records} - {record.id for record in records}
    last = case.nodes("message.external")[-1]
    cycle = "d1910e57-0316-490e-8061-cde3832422d5"
    assert last.parent == f"run/talk_main_{cycle}/{cycle}"


def test_torn_line_and_unfinished_tail(tmp_path: Path) -> None:
    case = Case("08-torn-line-and-unfinished-tail", tmp_path)
    counts = case.collect().counts
    assert (counts["records"], counts["damaged"]) == (7, 3)
    source = case.transcript().read_bytes()
    damaged = [data_of(record, "unknown")[0] for record in case.records()[2:5]]
    assert damaged == [line.decode() for line in source.splitlines()[2:5]]
    assert case.kinds()["llm.call"] == 2

    landed = case.records()[-1]
    with case.transcript().open("ab") as handle:
        handle.write((case.data / "rest-of-last-line.txt").read_bytes())
    counts = case.collect().counts
    assert (counts["records"], counts["damaged"]) == (1, 0)
    last = case.records()[-1]
    assert (last.ord, last.off) == (8, landed.off + landed.size + 1)
    assert last.parts[0].text == "still being written"


def test_lone_surrogate(tmp_path: Path) -> None:
    case = Case("09-lone-surrogate", tmp_path)
    assert case.collect().counts["damaged"] == 0
    records = case.records()
    assert len(records) == 4
    (tool,) = case.nodes("tool")
    assert tool.attrs["result_join"] == "exact_unique"
    assert records[2].parts[0].text == "\ufffd 95 \ufffd"
    assert records[3].parts[0].text == "half pair \ufffd here, full pair \U0001f375 here"
    kept = [text for record in records[2:] for text in data_of(record, "unknown")]
    assert any("\\udcb2 95 \\ud83c" in text for text in kept)
    assert any("half pair \\ud82d here" in text for text in kept)
    for command in (
        ("parse", case.session, "--rebuild"),
        ("conversation", case.session),
        ("conversation", case.session, "--json"),
        ("show", case.session, tool.id.removeprefix("tool/")),
        ("verify", case.session),
    ):
        outcome = case.pipeline.asz(*command)
        assert (outcome.status, outcome.err) == (0, ""), command


@pytest.mark.parametrize("megabytes", [1, 16])
def test_very_long_line(megabytes: int, tmp_path: Path) -> None:
    case = Case("11-very-long-line", tmp_path)
    longest = LONG_LINE + (megabytes - 1) * (1 << 20)
    if megabytes > 1:
        lengthen(case.transcript(), longest)
    assert case.collect().counts["damaged"] == 0
    records = case.records()
    assert len(records) == 4
    assert max(record.size for record in records) == longest
    (tool,) = case.nodes("tool")
    assert tool.attrs["result"] == "available"
    long = next(record for record in records if record.size == longest)
    assert data_of(long, "result")[0]["stdout"].endswith("END")


def lengthen(transcript: Path, longest: int) -> None:
    """Repeat the filler of the longest line until the line has ``longest`` bytes."""
    lines = transcript.read_bytes().split(b"\n")
    place = max(range(len(lines)), key=lambda number: len(lines[number]))
    record = json.loads(lines[place])
    stdout = record["toolUseResult"]["stdout"].removesuffix("END")
    more = longest - len(lines[place])
    lines[place] = lines[place].replace(b'END"', stdout.encode()[:1] * more + b'END"', 1)
    assert len(lines[place]) == longest
    transcript.write_bytes(b"\n".join(lines))


def test_session_forked_into_another_file(tmp_path: Path) -> None:
    case = Case("13-session-forked-into-another-file", tmp_path)
    case.collect()
    tokens: dict[str, int] = {}
    counted = 0
    sessions = case.pipeline.sessions()
    assert len(sessions) == 2
    for session in sessions:
        kinds = case.kinds(session)
        assert (kinds["message.external"], kinds["llm.call"]) == (2, 2)
        assert case.open(session) == {}
        found = case.output_tokens(session)
        counted += sum(found.values())
        tokens |= found
    assert (len(tokens), sum(tokens.values()), counted) == (3, 28, 38)
    parent = case.records(session="723376b5-3494-4c03-899e-118d235b4ee6")
    facts = [data for record in parent for data in data_of(record)]
    assert {"717c3b6a-4411-40b2-87a3-dca524a8a874"} == {
        fact["continuedInSessionId"] for fact in facts if fact["type"] == "continued-in"
    }


def test_prompt_typed_while_working(tmp_path: Path) -> None:
    case = Case("14-prompt-typed-while-working", tmp_path)
    case.collect()
    kinds = case.kinds()
    counted = ("message.external", "talk", "llm.call", "tool", "runtime.notification")
    assert [kinds[kind] for kind in counted] == [3, 1, 2, 1, 1]
    facts = [data for record in case.records() for data in data_of(record)]
    assert ("popAll", "never mind the lid") in {
        (fact.get("operation"), fact.get("content")) for fact in facts
    }
    rows = case.rows()
    texts = {
        record.id: [part.text for part in record.parts if part.k == "text"]
        for record in case.records()
        if record.id
    }
    said = [node.ref for node in case.nodes("message.external") if node.ref]
    said_texts = [texts[rows[ref.seq, ref.row].id or ""] for ref in said]
    assert said_texts == [["Boil two litres."], ["make it three"], ["and beep twice"]]


def test_named_teammates_and_forks(tmp_path: Path) -> None:
    case = Case("15-named-teammates-and-forks", tmp_path)
    case.collect()
    named, forked, deep = (
        "amina-lid-b6ba2563bb75702a",
        "aside-look-aac7b916b350968d",
        "a32c7ad33e292e8c5",
    )
    streams = {node.stream: node.attrs for node in case.nodes("stream")}
    assert streams.keys() == {"main", named, forked, deep}
    assert streams[named]["label"] == "Test the lid"
    assert {node.attrs["role"] for node in case.nodes("stream")} == {"main", "child"}
    assert case.kinds()["message.external"] == 1
    assert [run.attrs["trigger"] for run in case.nodes("run") if run.stream == "main"] == [
        "external",
        "unknown",
    ]
    assert case.open() == {"spawn_of_child": sorted((named, forked))}
    relations = case.pipeline.folded(case.session).relations.values()
    assert not [rel for rel in relations if rel.type == "starts"]
    assert {row.started_by for row in case.rows().values()} == {None, named}


def test_workflow_children_and_journal(tmp_path: Path) -> None:
    case = Case("16-workflow-children-and-journal", tmp_path)
    outcome = case.collect()
    assert (outcome.counts["conflicts"], outcome.counts["damaged"]) == (0, 0)
    listed = json.loads(case.pipeline.asz("sources", "--json").out)[0]["sessions"]
    (sources,) = [session["sources"] for session in listed]
    assert len({source["src"].split("/")[0] for source in sources}) == 2
    children = [s for s in sources if s["kind"] == "transcript" and s["stream"] != "main"]
    assert len(children) == 4
    assert {source["batch"] for source in sources if source["kind"] == "workflow_script"} == {
        "1a2b3c4d-5e6"
    }
    rows = [record.child for record in case.records("journal") if record.child]
    assert (len(rows), len(case.records("journal"))) == (6, 7)
    assert len(case.records("workflow_manifest")) == 1
    assert len(case.records("workflow_script")) == 1

    relations = case.pipeline.folded(case.session).relations.values()
    assert sorted(rel.to for rel in relations if rel.type == "starts") == [
        "stream/a11f905503e090ff8",
        "stream/aa5b1a1385a52aca8",
    ]
    # One child has no file, another one's file is empty: of neither has a record landed.
    assert case.open() == {
        "child_stream": ["aaf56e312e98563c2", "ae06077503475f14a"],
        "spawn_of_child": ["ae55ae4946014ea59"],
    }


def test_older_layouts(tmp_path: Path) -> None:
    case = Case("19-older-layouts", tmp_path)
    case.collect()
    short, inline = "651fcd03-3831-47e8-8a1e-63848ab407cf", "66d52734-3276-4524-8ddd-6b857a71a882"
    assert case.pipeline.sessions() == [short, inline]
    for session in (short, inline):
        source = [path for path in case.pipeline.projects.glob("*/*.jsonl") if path.stem == session]
        assert len(case.records(session=session)) >= len(source[0].read_bytes().splitlines())
        assert len([talk for talk in case.nodes("talk", session) if talk.stream == "main"]) == 1
        for call in case.nodes("llm.call", session):
            assert (call.attrs["usage"], call.attrs["stop_reason"]) == (
                "unavailable",
                "unavailable",
            )
        assert case.output_tokens(session)
    relations = case.pipeline.folded(short).relations.values()
    assert [(rel.to, rel.quality) for rel in relations if rel.type == "starts"] == [
        ("stream/3f9a1c2e", "exact_unique")
    ]
    assert [node.stream for node in case.nodes("stream", inline)] == ["main"]
    roots = [record for record in case.records(session=inline) if record.parent is None]
    assert len(roots) == 2
    (run,) = [run for run in case.nodes("run", inline) if run.attrs.get("inferred")]
    assert run.attrs["trigger"] == "none_stated"


def test_one_session_in_two_directories(tmp_path: Path) -> None:
    case = Case("20-one-session-in-two-directories", tmp_path)
    for records in (6, 0):
        outcome = case.pipeline.collect()
        assert (outcome.status, outcome.err) == (0, "")
        assert (outcome.counts["sessions"], outcome.counts["conflicts"]) == (1, 0)
        assert (outcome.counts["copies"], outcome.counts["records"]) == (2, records)
    assert sorted(case.output_tokens().values()) == [4, 5, 6]


def test_one_session_in_two_directories_that_disagree(tmp_path: Path) -> None:
    case = Case("20-one-session-in-two-directories", tmp_path)
    shorter = min(case.pipeline.projects.glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    shorter.write_bytes(shorter.read_bytes().replace(b'"output_tokens":4', b'"output_tokens":7'))
    outcome = case.pipeline.collect()
    assert (outcome.status, outcome.counts["conflicts"], outcome.counts["copies"]) == (1, 1, 1)
    assert f"{shorter.parent.name}/{shorter.name}" in outcome.err
    outcome = case.pipeline.collect()
    assert (outcome.status, outcome.counts["conflicts"], outcome.counts["records"]) == (0, 0, 0)
    assert case.pipeline.asz("verify").status == 0


def test_a_copy_that_goes_on_where_the_source_ended(tmp_path: Path) -> None:
    case = Case("20-one-session-in-two-directories", tmp_path)
    longer = max(case.pipeline.projects.glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    aside = tmp_path / "aside.jsonl"
    shutil.move(longer, aside)
    case.pipeline.collect()
    assert sorted(case.output_tokens().values()) == [4, 5]
    shutil.move(aside, longer)
    case.pipeline.collect()
    assert sorted(case.output_tokens().values()) == [4, 5, 6]


def test_rewritten_on_resume(tmp_path: Path) -> None:
    case = Case("34-rewritten-on-resume", tmp_path)
    case.collect()
    shutil.copy(case.data / "after-resume.jsonl", case.transcript())
    outcome = case.pipeline.collect()
    assert (outcome.status, outcome.counts["conflicts"]) == (1, 1)
    assert "rewritten" in outcome.err
    case.collect()
    assert len({record.id for record in case.records()}) == 8
    assert sum(case.output_tokens().values()) == 11 + 12 + 13 + 14
    case.transcript().unlink()
    case.collect()
    assert sum(case.output_tokens().values()) == 50
    assert case.pipeline.asz("verify").status == 0


@pytest.mark.parametrize("first", ["home", "work"])
def test_one_session_on_two_machines(tmp_path: Path, first: str) -> None:
    case = Case("41-one-session-on-two-machines", tmp_path, projects=f"{first}-machine/projects")
    second = "work" if first == "home" else "home"
    roots = [str(case.pipeline.projects), str(case.data / f"{second}-machine" / "projects")]
    text = case.pipeline.config.read_text().replace(json.dumps(roots[0]), json.dumps(roots))
    case.pipeline.config.write_text(text)
    outcome = case.pipeline.collect()
    assert (outcome.status, outcome.counts["sessions"], outcome.counts["conflicts"]) == (1, 1, 1)
    assert len({record.id for record in case.records()}) == 6
    assert sorted(case.output_tokens().values()) == [11, 12, 13]
    case.collect()
    assert case.pipeline.asz("verify").status == 0
