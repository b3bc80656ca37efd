"""The commands that read a storage root, on the sample collected once."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import asz_claude_code
from asz.cli import main

SAMPLE = Path(asz_claude_code.__file__).parent / "sample" / "projects"
SESSION = "4be1a7c2-9d3f-4e58-8a06-1f5c7d2e9b34"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root the sample was collected into."""
    place = tmp_path_factory.mktemp("collected")
    config = place / "asz.yaml"
    config.write_text(f"adapters: [{{name: claude-code, source_root: '{SAMPLE}'}}]")
    arguments = ["--config", str(config), "--root", str(place / "root")]
    assert main(["collect", "--once", "--adapter", "claude-code", *arguments]) == 0
    return place / "root"


@pytest.fixture
def root(collected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that a test may damage."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASZ_ROOT", str(tmp_path / "root"))
    for name in ("ASZ_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return Path(shutil.copytree(collected, tmp_path / "root"))


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command: status, standard output, standard error."""

    def one(*args: str) -> tuple[int, str, str]:
        status = main(args)
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return one


def conversation_dir(root: Path) -> Path:
    return root / "_conversations" / SESSION


def structure(run: Run) -> Any:
    status, out, _ = run("conversation", SESSION, "--json")
    return status, json.loads(out)


def test_the_tree_and_the_json_hold_the_same_nodes(run: Run) -> None:
    status, shown = structure(run)
    _, tree, _ = run("conversation", SESSION[:4])
    assert status == 0
    assert len(tree.splitlines()) == 2 + len(shown["nodes"]) + len(shown["unresolved"])
    kinds = sorted(node["kind"] for node in shown["nodes"])
    assert kinds == sorted(line.split()[0] for line in tree.splitlines()[2:])
    assert shown["head"]["conversation"] == shown["conversation"] == SESSION
    assert shown["problem"] is None


def test_the_tree_is_indented_by_containment(run: Run) -> None:
    _, tree, _ = run("conversation", SESSION)
    above: list[str] = []
    for line in tree.splitlines()[2:]:
        depth = (len(line) - len(line.lstrip())) // 2
        del above[depth:]
        assert len(above) == depth
        above.append(line.split()[0])
        assert above[0] == "session"


def test_excerpts_end_where_the_landed_files_do(run: Run, root: Path) -> None:
    _, whole, _ = run("conversation", SESSION)
    shutil.rmtree(root / SESSION)
    status, bare, err = run("conversation", SESSION)
    assert (status, err) == (0, "")
    assert '"The tide table prints' in whole
    assert '"' not in "".join(bare.splitlines()[2:])
    assert len(bare.splitlines()) == len(whole.splitlines())


def test_a_damaged_round_is_named_and_what_precedes_it_is_shown(run: Run, root: Path) -> None:
    (path,) = (conversation_dir(root) / "rounds").iterdir()
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"tide", b"time", 1))
    status, out, err = run("conversation", SESSION)
    assert (status, out) == (1, "")
    assert path.name in err
    assert err.count("\n") == 1
    assert run("verify", SESSION)[0] == 1


def test_a_chain_without_rounds_says_what_to_do(run: Run, root: Path) -> None:
    shutil.rmtree(conversation_dir(root))
    status, _, err = run("conversation", SESSION)
    assert status == 1
    assert err == f"asz: error: conversation {SESSION}: not assembled yet; run: asz parse\n"
    _, out, _ = run("conversations")
    assert out.splitlines()[1].split() == [SESSION, "0", "0", "0", "unparsed"]


def test_parse_appends_what_is_missing_and_rebuilds(run: Run, root: Path) -> None:
    _, before = structure(run)
    assert run("parse") == (0, f"{SESSION}: rounds=0 through=10\n", "")
    (parsed,) = json.loads(run("parse", "--json")[1])
    assert (parsed["session"], parsed["rounds_written"], parsed["rounds"]) == (SESSION, 0, 1)
    assert run("parse", "--rebuild", "4be1")[:2] == (0, f"{SESSION}: rounds=1 through=10\n")
    assert sorted(path.name for path in conversation_dir(root).glob("rounds*")) == [
        "rounds",
        "rounds.1",
    ]
    assert structure(run)[1]["nodes"] == before["nodes"]


def test_parse_makes_no_root(run: Run, tmp_path: Path) -> None:
    status, out, err = run("parse", "--root", "elsewhere")
    assert (status, out) == (1, "")
    assert "no storage root here yet" in err
    assert not (tmp_path / "elsewhere").exists()


def test_parse_goes_on_after_a_session_it_cannot_extend(run: Run, root: Path) -> None:
    (path,) = (conversation_dir(root) / "rounds").iterdir()
    path.rename(path.with_name(path.name.replace("r000001", "r000002")))
    (conversation_dir(root) / "conversation.state").unlink()
    shutil.copytree(root / SESSION, root / "other-session")
    status, out, err = run("parse")
    assert status == 1
    assert "other-session: rounds=1" in out
    assert f"asz parse --rebuild {SESSION}" in err


def test_nothing_is_changed_in_a_root_without_its_marker(run: Run, root: Path) -> None:
    (root / "_root.json").unlink()
    assert run("conversations")[0] == 0
    for args in (("parse",), ("sources", "--resolve", "x")):
        status, out, err = run(*args)
        assert (status, out) == (1, "")
        assert "read only" in err


def test_cursors_as_json_are_whole(run: Run) -> None:
    cursors = json.loads(run("sources", "--cursors", "--json")[1])
    main_one = next(cursor for cursor in cursors if cursor["place"] == "streams/main")
    assert (main_one["session"], main_one["state"], main_one["kind"]) == (
        SESSION,
        "active",
        "transcript",
    )
    assert main_one["offset"] == main_one["size"] == Path(main_one["path"]).stat().st_size
    assert len(main_one["digest"]) == 64


def test_the_numbers_of_a_pass_as_json(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "asz.yaml"
    config.write_text(f"adapters: [{{name: claude-code, source_root: '{SAMPLE}'}}]")
    root = str(tmp_path / "new")
    status, out, _ = run("collect", "--once", "--json", "--config", str(config), "--root", root)
    numbers = json.loads(out)
    assert (status, numbers["sessions"], numbers["errors"]) == (0, 1, 0)
    assert numbers["landed"] == numbers["sources"]
    assert isinstance(numbers["bytes"], int)


def test_show_finds_a_record_by_its_id_and_by_a_tool_use_id(run: Run) -> None:
    _, shown = structure(run)
    tool = next(node for node in shown["nodes"] if node["kind"] == "tool")
    status, out, _ = run("show", SESSION, tool["id"].rpartition("/")[2], "--json")
    call, result = json.loads(out)
    assert status == 0
    assert [(call["seq"], call["row"])] == [(tool["ref"]["seq"], tool["ref"]["row"])]
    (wanted,) = [part for part in call["record"]["parts"] if part["k"] == "call"]
    assert wanted["id"] == next(p for p in result["record"]["parts"] if p["k"] == "result")["of"]
    by_id = json.loads(run("show", SESSION, call["record"]["id"], "--json")[1])
    assert by_id == [call]


def test_show_takes_the_address_that_conversation_prints(run: Run) -> None:
    _, tree, _ = run("conversation", SESSION)
    (line,) = [line for line in tree.splitlines() if "tool Bash (failed)" in line]
    assert line.endswith('[1:14] {"command":"make test","description":"Run the tests"}')
    (shown,) = json.loads(run("show", SESSION, "1:14", "--json")[1])
    assert (shown["seq"], shown["row"], shown["record"]["ord"]) == (1, 14, 14)
    status, out, err = run("show", SESSION, "1:999")
    assert (status, out, err) == (1, "", "asz: error: no record landed at 1:999\n")


def test_show_prints_the_bytes_that_landed(run: Run, root: Path) -> None:
    (path,) = (root / SESSION / "streams" / "main").iterdir()
    line = path.read_bytes().splitlines()[2]
    _, out, _ = run("show", SESSION, json.loads(line)["id"], "--json")
    assert line.decode() in out


def test_index_says_how_far_it_goes(run: Run, root: Path) -> None:
    assert json.loads(run("index", "--json")[1]) == [
        {"session": SESSION, "files": 10, "covered": 10, "landed": 10, "state": "complete"}
    ]
    shutil.rmtree(root / SESSION / "index")
    assert run("index")[1].splitlines()[1].split()[2:] == ["0", "10", "behind"]
    rows = json.loads(run("index", SESSION, "--json")[1])
    assert (sum(row["records"] for row in rows), sum(row["copies"] for row in rows)) == (69, 2)


def test_verify_names_each_problem(run: Run, root: Path) -> None:
    status, out, err = run("verify")
    assert (status, err) == (0, "")
    assert "records=69" in out
    assert out.endswith(" problems=0\n")
    (path,) = (root / SESSION / "streams" / "main").iterdir()
    path.unlink()
    status, out, err = run("verify")
    assert status == 1
    problems = err.splitlines()
    assert out.endswith(f" problems={len(problems)}\n")
    assert problems
    assert all(line.startswith("asz: error: ") for line in problems)
    shown = json.loads(run("verify", "--json")[1])
    assert len(shown["problems"]) == len(problems)
    assert set(shown["problems"][0]) == {"what", "where", "round", "seq"}


@pytest.mark.parametrize("command", ["conversation", "index", "parse", "verify"])
def test_an_id_nobody_has(run: Run, command: str) -> None:
    status, out, err = run(command, "zzz")
    assert (status, out) == (1, "")
    assert "has an id that is or begins with 'zzz'" in err


def test_reading_writes_nothing(run: Run, root: Path) -> None:
    def snapshot() -> dict[str, int]:
        return {str(path): path.lstat().st_mtime_ns for path in root.rglob("*")}

    before = snapshot()
    for args in (
        ("conversations",),
        ("conversation", SESSION),
        ("show", SESSION, "5afa"),
        ("index",),
        ("index", SESSION),
        ("verify",),
        ("sources", "--cursors"),
        ("sources", "--conflicts"),
    ):
        assert run(*args)[0] == 0, args
    assert snapshot() == before
