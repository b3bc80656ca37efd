"""``asz metrics``, and where asz.yaml may switch metrics on."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

import asz_claude_code
from asz.cli import main
from asz.storage.locks import hold
from asz_hookspecs import Record, Usage

from ...support.landed import Landing
from ...support.pipeline import Outcome, Pipeline
from ...support.spool import points


def run(*args: str) -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(args)
    return Outcome(status, out.getvalue(), err.getvalue())


def call(name: str, output: int, day: str, *, finished: bool = True, **fields: Any) -> Record:
    time = f"2026-09-{day}T12:00:00Z" if day else None
    flags = ("finished",) if finished else ()
    usage = Usage(1, output, 2, 3)
    return Record(
        **{"call": name, "time": time, "model": "m", "usage": usage, "flags": flags} | fields
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two sessions that share a call, a child, an unfinished call, one without usage, one without time."""
    first, second = Landing(tmp_path, "s1"), Landing(tmp_path, "s2")
    first.write(
        [
            call("c1", 10, "01"),
            call("c2", 20, "02", model="n"),
            call("cut", 1, "02", finished=False),
            call("bare", 0, "02", usage=None),
        ]
    )
    first.write([call("c3", 40, "03")], stream="a1")
    second.write([call("c1", 10, "01"), call("c4", 80, "")])
    first.index()
    second.index()
    return tmp_path


def printed(*args: str) -> Any:
    return json.loads(run("metrics", "--json", *args).out)


def total(model: str, role: str, calls: int, output: int) -> dict[str, Any]:
    tokens = {"input": calls, "output": output, "cache_read": 2 * calls, "cache_write": 3 * calls}
    return {"runtime": "Test", "model": model, "role": role, "calls": calls, "tokens": tokens}


def test_totals_count_a_call_once_and_an_unfinished_one_apart(root: Path) -> None:
    assert printed("--root", str(root)) == {
        "from": None,
        "to": None,
        "finished": [
            total("m", "main", 2, 90),
            total("m", "child", 1, 40),
            total("n", "main", 1, 20),
        ],
        "unfinished": [total("m", "main", 1, 1)],
        "without_usage": 1,
        "without_time": 0,
    }


@pytest.mark.parametrize(
    ("days", "output"),
    [
        (("--from", "2026-09-02"), [40, 20]),
        (("--to", "2026-09-01"), [10]),
        (("--from", "2026-09-01", "--to", "2026-09-02"), [10, 20]),
        (("--from", "2026-09-04"), []),
    ],
)
def test_days_are_whole_and_both_count(
    root: Path, days: tuple[str, ...], output: list[int]
) -> None:
    found = printed("--root", str(root), *days)
    assert [row["tokens"]["output"] for row in found["finished"]] == output
    assert found["without_time"] == 1


def test_the_table(root: Path) -> None:
    outcome = run("metrics", "--root", str(root))
    assert outcome.status == 0
    assert [line.split() for line in outcome.out.splitlines()] == [
        [
            "RUNTIME",
            "MODEL",
            "ROLE",
            "STATE",
            "CALLS",
            "INPUT",
            "OUTPUT",
            "CACHE",
            "READ",
            "CACHE",
            "WRITE",
        ],
        ["Test", "m", "main", "finished", "2", "2", "90", "4", "6"],
        ["Test", "m", "child", "finished", "1", "1", "40", "2", "3"],
        ["Test", "n", "main", "finished", "1", "1", "20", "2", "3"],
        ["all", "finished", "4", "4", "150", "8", "12"],
        ["Test", "m", "main", "unfinished", "1", "1", "1", "2", "3"],
        ["all", "unfinished", "1", "1", "1", "2", "3"],
    ]
    assert "1 finished calls reported no usage" in outcome.err


def test_days_in_the_wrong_order_or_form_are_refused(root: Path) -> None:
    outcome = run("metrics", "--root", str(root), "--from", "2026-09-02", "--to", "2026-09-01")
    assert (outcome.status, outcome.out) == (2, "")
    assert "--from 2026-09-02 is after --to 2026-09-01" in outcome.err
    assert run("metrics", "--root", str(root), "--from", "yesterday").status == 2


def test_a_damaged_session_is_named_and_the_others_are_counted(root: Path) -> None:
    for path in (root / "s1").glob("index/*"):
        path.unlink()
    next((root / "s1").glob("streams/main/*.sd")).write_bytes(b"{}\n")
    outcome = run("metrics", "--json", "--root", str(root))
    assert outcome.status == 1
    assert "s1" in outcome.err
    assert [row["tokens"]["output"] for row in json.loads(outcome.out)["finished"]] == [90]


# ---------------------------------------------------------------- where metrics may be on


def test_two_entries_that_count_the_same_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "asz.yaml"
    config.write_text(
        "adapters:\n"
        "  - {name: claude-code, metrics: true}\n"
        "  - {name: claude-code, label: work, metrics: true}\n"
    )
    outcome = run("collect", "--once", "--config", str(config), "--root", str(tmp_path / "root"))
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert f"{config}:3: metrics are on for claude-code and for claude-code[work]" in line
    assert "one count would be sent twice" in line
    assert not (tmp_path / "root").exists()


def test_derived_and_received_metrics_of_one_runtime_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "asz.yaml"
    config.write_text(
        "adapters:\n"
        "  - {name: claude-code-otlp, enabled: true}\n"  # its metrics are on unless it says otherwise
        "  - {name: claude-code, metrics: true}\n"
    )
    outcome = run("collect", "--once", "--config", str(config), "--root", str(tmp_path / "root"))
    assert (outcome.status, outcome.out) == (2, "")
    assert f"{config}:3: metrics are on for claude-code and for claude-code-otlp" in outcome.err
    config.write_text(
        "adapters:\n"
        "  - {name: claude-code-otlp, enabled: true, metrics: false}\n"
        "  - {name: claude-code, metrics: true}\n"
    )
    assert run("config", "--config", str(config)).status == 0


def test_one_entry_of_several_may_have_metrics(tmp_path: Path) -> None:
    config = tmp_path / "asz.yaml"
    config.write_text(
        "adapters:\n"
        "  - {name: claude-code, metrics: true}\n"
        "  - {name: claude-code, label: work, metrics: false}\n"
    )
    shown = json.loads(run("config", "--json", "--config", str(config)).out)["settings"]
    values = {item["key"]: item["value"] for item in shown}
    assert values["adapters.claude-code.metrics"] is True
    assert values["adapters.claude-code[work].metrics"] is False


def test_metrics_are_off_unless_asked_for(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    projects.mkdir()
    pipeline = Pipeline(tmp_path, projects)
    assert pipeline.collect().status == 0
    assert not (pipeline.root / "_metrics").exists()


def test_the_first_derivation_goes_on_while_a_session_cannot_land(tmp_path: Path) -> None:
    """Its history is as old in the pass that can land it."""
    projects = tmp_path / "projects" / "-work"
    projects.mkdir(parents=True)
    pipeline = Pipeline(tmp_path, projects.parent, ", metrics: true")
    assert pipeline.collect().status == 0
    first, second, third = (
        f"0b5ff9a0-7d0f-4a5e-9c1a-2f7f8d1f0a{number}" for number in (11, 22, 33)
    )
    for session in (first, second):
        (projects / f"{session}.jsonl").write_text(old_call(session))
    in_the_way = pipeline.root / second
    in_the_way.write_text("")
    assert pipeline.collect().status == 1
    in_the_way.unlink()
    assert pipeline.collect().status == 0
    assert points(pipeline.root) == []
    (projects / f"{third}.jsonl").write_text(old_call(third))
    assert pipeline.collect().status == 0
    assert {point.attribute("session.id") for point in points(pipeline.root)} == {third}


def old_call(session: str) -> str:
    """A line of a transcript, of years ago."""
    usage = {"input_tokens": 1, "output_tokens": 2}
    message = {"id": f"msg_{session}", "role": "assistant", "model": "m", "content": []}
    line = {
        "type": "assistant",
        "uuid": f"u-{session}",
        "timestamp": "2020-01-01T00:00:00.000Z",
        "message": {**message, "stop_reason": "end_turn", "usage": usage},
    }
    return json.dumps(line) + "\n"


def test_errors_and_busy_derivations_are_of_the_pass(tmp_path: Path) -> None:
    sample = Path(asz_claude_code.__file__).parent / "sample" / "projects"
    pipeline = Pipeline(tmp_path, sample, ", metrics: true, metrics_lookback: 9999d")
    assert pipeline.collect().status == 0
    assert points(pipeline.root)
    with hold(pipeline.root / "_metrics" / ".lock"):
        outcome = pipeline.collect()
    assert (outcome.status, outcome.counts["busy"]) == (1, 1)
    assert "metrics: busy" in outcome.err
    (pipeline.root / "_metrics" / "derived.db").write_bytes(b"damaged" * 1000)
    outcome = pipeline.collect()
    assert (outcome.status, outcome.counts["errors"]) == (1, 1)
    assert "derived.db: damaged" in outcome.err
    assert pipeline.collect().status == 0
