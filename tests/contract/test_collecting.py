"""Collecting with real adapters: the good one lands everything whatever the others do."""

import json
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parent.parent / "plugins" / "working" / "sample"
BROKEN = ("raises_on_import", "exits_on_import", "contract_99", "claims_claude_code")


@pytest.fixture
def history(asz: Any) -> Path:
    """The working adapter reads the sample; claude-code has nothing to read."""
    place: Path = asz.home / "history"
    place.mkdir()
    for path in SAMPLE.iterdir():
        (place / path.name).write_bytes(path.read_bytes())
    asz.config(f"adapters: [{{name: working, source_root: '{place}'}}]")
    return place


def counts(line: str) -> dict[str, str]:
    """Numbers of a pass line."""
    return dict(word.split("=") for word in line.split() if "=" in word)


def landed(asz: Any) -> dict[str, list[dict[str, Any]]]:
    """Records of every session, from the landed files themselves."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(asz.root.glob("*/streams/*/*.sd")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found.setdefault(lines[0]["session"], []).extend(lines[1:-1])
    return found


def test_a_third_party_adapter_runs_through_the_whole_pipeline(asz: Any, history: Path) -> None:
    first = asz("collect", "--once", plugins=("working",))
    assert (first.returncode, first.stderr) == (0, "")
    assert counts(first.stdout)["records"] == "9"
    assert counts(first.stdout)["damaged"] == "1"
    again = asz("collect", "--once", plugins=("working",))
    assert counts(again.stdout)["landed"] == "0"

    rows = {row["id"]: row for row in json.loads(asz("conversations", "--json").stdout)}
    assert rows["first-session"]["state"] == "current"
    assert rows["first-session"]["talks"] == 3
    shown = asz("conversation", "first").stdout
    assert '"What is in the shed?"' in shown
    assert "stream helper" in shown
    record = json.loads(asz("show", "first", "n1", "--json").stdout)[0]["record"]
    assert record["parts"][0]["data"] == {
        "id": "n1",
        "parent": "a1",
        "weather": {"sky": "clear", "wind": 3.5},
    }
    verified = asz("verify")
    assert (verified.returncode, verified.stderr) == (0, "")
    assert "problems=0" in verified.stdout


def test_a_custom_source_continues_where_it_was(asz: Any, history: Path) -> None:
    asz("collect", "--once", plugins=("working",))
    events = json.loads((history / "history.json").read_text())
    events.append(["second-session", "main", {"id": "x2", "from": "agent", "text": "Good day"}])
    (history / "history.json").write_text(json.dumps(events))
    done = asz("collect", "--once", plugins=("working",))
    assert counts(done.stdout)["records"] == "1"
    assert [record["id"] for record in landed(asz)["second-session"]] == ["x1", "x2"]


def test_broken_adapters_cost_the_good_one_nothing(asz: Any, history: Path) -> None:
    done = asz("collect", "--once", plugins=("working", *BROKEN))
    assert done.returncode == 1
    assert counts(done.stdout)["records"] == "9"
    assert len(done.stderr.splitlines()) == len(BROKEN)


@pytest.mark.parametrize("hook", ["asz_discover", "asz_land", "asz_convert", "asz_convert:always"])
def test_a_hook_that_raises_costs_the_good_adapter_nothing(
    asz: Any, history: Path, hook: str
) -> None:
    done = asz("collect", "--once", plugins=("working", "faulty"), ASZ_TEST_FAULTY=hook)
    assert done.returncode == 1
    name = hook.partition(":")[0]
    assert f"adapter faulty (asz-test-faulty 0.1) {name}: ZeroDivisionError: {hook}" in done.stderr
    assert "Traceback" not in done.stderr
    sessions = landed(asz)
    assert len(sessions["first-session"]) == 8
    assert len(sessions["second-session"]) == 1


def test_one_bad_record_is_one_bad_record(asz: Any) -> None:
    args = ("collect", "--once", "--adapter", "faulty")
    done = asz(*args, plugins=("faulty",), ASZ_TEST_FAULTY="asz_convert")
    assert done.returncode == 1
    assert counts(done.stdout)["damaged"] == "1"
    parts = [record["parts"][0] for record in landed(asz)["faulty-session"]]
    assert [part["k"] for part in parts] == ["data", "unknown", "data"]
    assert parts[1]["data"] == '"bad"'
    assert "ZeroDivisionError" in parts[1]["text"]
    again = asz(*args, plugins=("faulty",))
    assert (again.returncode, counts(again.stdout)["landed"]) == (0, "0")


def test_what_was_yielded_before_a_source_failed_is_kept(asz: Any) -> None:
    args = ("collect", "--once", "--adapter", "faulty")
    done = asz(*args, plugins=("faulty",), ASZ_TEST_FAULTY="asz_land")
    assert (done.returncode, counts(done.stdout)["records"]) == (1, "3")
    again = asz(*args, plugins=("faulty",))
    assert (again.returncode, counts(again.stdout)["records"]) == (0, "0")


@pytest.mark.parametrize("how", ["", "count", "carry"])
def test_a_hostile_adapter_writes_nothing_but_what_is_safe(asz: Any, how: str) -> None:
    outside = {path for path in asz.home.rglob("*") if asz.root not in path.parents}
    done = asz(
        "collect", "--once", "--adapter", "hostile", plugins=("hostile",), ASZ_TEST_HOSTILE=how
    )
    assert done.returncode == 1
    assert done.stderr.count("adapter hostile") == (25 if not how else 26)
    assert "\u202e" not in done.stderr
    entries = {path.name for path in asz.root.iterdir()}
    assert entries - {"_cache"} == {"_root.json", "_conversations", "hostile-session"}
    assert [path.name for path in (asz.root / "hostile-session" / "streams").iterdir()] == ["main"]
    (record,) = landed(asz)["hostile-session"]
    assert record["parts"][0]["data"] in ("kept", '"kept"')
    after = {path for path in asz.home.rglob("*") if asz.root not in path.parents}
    assert after - outside == {asz.root}


def test_a_session_belongs_to_the_runtime_that_landed_it_first(asz: Any, history: Path) -> None:
    (history / "first-session.jsonl").rename(history / "faulty-session.jsonl")
    (history / "history.json").unlink()
    asz("collect", "--once", "--adapter", "working", plugins=("working",))
    done = asz("collect", "--once", plugins=("working", "faulty"))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "faulty-session" in line
    assert "Working Agent" in line
    assert "Faulty Agent" in line
    assert len(landed(asz)["faulty-session"]) == 6


def test_a_root_needs_no_adapter_to_be_read(asz: Any, history: Path) -> None:
    asz("collect", "--once", plugins=("working",))
    asz.config("")
    before = asz("conversation", "first-session", "--json").stdout
    for path in asz.root.glob("*/index"):
        for file in path.iterdir():
            file.unlink()
    done = asz("parse", "--rebuild")
    assert (done.returncode, done.stderr) == (0, "")
    after = json.loads(asz("conversation", "first-session", "--json").stdout)
    assert after["nodes"] == json.loads(before)["nodes"]
    assert asz("verify").returncode == 0
