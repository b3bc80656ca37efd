"""Which files of the plugin are read, and for which session and stream."""

import os
from pathlib import Path

import pytest

from asz_claude_code_changes.discover import discover
from asz_claude_code_changes.options import Options
from asz_hookspecs import AdapterError, Discovery

from .tree import AGENT, OTHER, PLUGIN, SESSION, Data, change, dump, observed, sources, srcs

MAIN = f"{PLUGIN}/output/{SESSION}/main.jsonl"
NOBODY = 65534


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path / "claude" / "plugins" / "data")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def look(source_root: str | list[str] = "") -> Discovery:
    return discover(Options(source_root=source_root), lambda _: frozenset())


# ---------------------------------------------------------------- what is read


def test_streams_of_sessions(data: Data) -> None:
    data.stream()
    data.stream(AGENT)
    data.stream("acompact-0123456789abcdef")
    data.stream("main", OTHER)
    found = data.discover()
    assert (found.problems, found.skipped, found.complete) == ((), (), True)
    assert {
        session: [(one.stream, one.kind, one.shape) for one in held]
        for session, held in sources(found).items()
    } == {
        SESSION: [
            (AGENT, "changes", "lines"),
            ("acompact-0123456789abcdef", "changes", "lines"),
            ("main", "changes", "lines"),
        ],
        OTHER: [("main", "changes", "lines")],
    }
    assert MAIN in srcs(found)


def test_every_plugin_directory_is_a_source_of_its_own(data: Data) -> None:
    data.stream()
    data.stream("main", SESSION, "file-changes-elsewhere")
    (held,) = sources(data.discover()).values()
    assert len(held) == len({source.cursor_key for source in held}) == 2
    assert {source.stream for source in held} == {"main"}


@pytest.mark.parametrize(
    "src",
    [
        f"{PLUGIN}/output/{SESSION}/main.execution.jsonl",
        f"{PLUGIN}/output/{SESSION}/{AGENT}.execution.jsonl",
        f"{PLUGIN}/output/{SESSION}/notes.txt",
        f"{PLUGIN}/output/{SESSION}/deeper/main.jsonl",
        f"{PLUGIN}/output/notes.jsonl",
        f"{PLUGIN}/output/no-session/main.jsonl",
        f"{PLUGIN}/output/..{SESSION}/main.jsonl",
        f"{PLUGIN}/state/{SESSION}/main.jsonl",
        f"{PLUGIN}/{SESSION}/main.jsonl",
        "main.jsonl",
    ],
)
def test_other_files_are_left_alone(data: Data, src: str) -> None:
    data.write(src)
    found = data.discover()
    assert (found.sessions, found.problems, found.skipped) == ((), (), ())


@pytest.mark.parametrize("name", ["Main", "b0123456789abcdef", "a b", "..", "a\u202eb", "con", ""])
def test_names_that_are_no_stream_s_are_skipped_and_named(data: Data, name: str) -> None:
    path = data.stream(name)
    found = data.discover()
    assert found.sessions == ()
    assert [line.partition(": ")[0] for line in found.skipped] == [str(path)]


def test_a_name_that_is_not_utf8_is_a_problem(data: Data) -> None:
    data.stream()
    bad = os.fsdecode(b"caf\xe9")
    data.stream("main", SESSION, bad)
    found = data.discover()
    assert srcs(found) == [MAIN]
    (problem,) = found.problems
    assert "not UTF-8" in problem.message
    assert problem.hides == f"{bad}/output/{SESSION}/main.jsonl"


def test_what_is_no_regular_file_is_a_problem_and_is_not_waited_for(data: Data) -> None:
    path = data.stream()
    path.unlink()
    os.mkfifo(path)
    path.with_name(f"{AGENT}.jsonl").mkdir()
    found = data.discover()
    assert found.sessions == ()
    assert [problem.message.split(": ")[1] for problem in found.problems] == ["not read"] * 2


def test_a_directory_that_cannot_be_listed_hides_what_is_in_it() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        data = Data(Path(name) / "data")
        closed = data.stream().parent
        data.stream("main", OTHER)
        closed.chmod(0)
        try:
            if os.geteuid() == 0:
                os.seteuid(NOBODY)
            found = data.discover()
        finally:
            if os.getuid() == 0:
                os.seteuid(0)
            closed.chmod(0o755)
    assert list(sources(found)) == [OTHER]
    (problem,) = found.problems
    assert problem.hides == f"{PLUGIN}/output/{SESSION}/"
    assert found.complete


# ---------------------------------------------------------------- where


def test_default_places(home: Path) -> None:
    Data(home / ".claude/plugins/data").stream()
    Data(home / ".config/claude/plugins/data").stream("main", OTHER)
    found = look()
    assert set(sources(found)) == {SESSION, OTHER}
    assert len(found.roots) == 2


def test_settings_name_the_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Data(home / ".claude/plugins/data").stream()
    Data(home / "xdg/claude/plugins/data").stream("main", OTHER)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    assert set(sources(look())) == {SESSION, OTHER}
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "account"))
    found = look()
    assert found.sessions == ()
    assert found.roots == (str(home / "account/plugins/data"),)
    Data(home / "account/plugins/data").stream()
    assert set(sources(look())) == {SESSION}


def test_without_the_plugin_there_is_nothing_and_nothing_wrong(home: Path) -> None:
    found = look()
    assert (found.sessions, found.problems, found.skipped, found.notes) == ((), (), (), ())
    assert found.complete


@pytest.mark.parametrize(
    "named",
    [
        "claude",
        "claude/projects",
        "claude/plugins/data",
        f"claude/plugins/data/{PLUGIN}",
        f"claude/plugins/data/{PLUGIN}/output",
    ],
)
def test_a_root_may_be_named_at_any_level(data: Data, tmp_path: Path, named: str) -> None:
    data.stream()
    (tmp_path / "claude/projects").mkdir()
    found = look(str(tmp_path / named))
    ((source,),) = sources(found).values()
    assert f"{source.root}/{source.src}" == str(data.root / MAIN)
    assert found.roots == (source.root,)


def test_a_named_root_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=r"source_root: .*/none does not exist"):
        look(str(tmp_path / "none"))
    (tmp_path / "file").touch()
    with pytest.raises(AdapterError, match="is not a directory"):
        look(str(tmp_path / "file"))


def test_a_root_named_twice_is_read_once(data: Data, tmp_path: Path) -> None:
    data.stream()
    (tmp_path / "again").symlink_to(data.root)
    (held,) = sources(look([str(data.root), str(tmp_path / "again")])).values()
    assert len(held) == 1


# ---------------------------------------------------------------- filters


@pytest.mark.parametrize(
    ("pattern", "workspaces"),
    [
        ("/work/p", ["/work/p"]),
        ("/work/p/**", ["/work/p", "/work/p/sub"]),
        ("/work/*", ["/work/p", "/work/p-old", "/work/p/sub"]),
        ("/work/?", ["/work/p"]),
        ("/**", ["/home/sam/x", "/work/p", "/work/p-old", "/work/p/sub"]),
        ("~/x", ["/home/sam/x"]),
        ("-work-*", ["/work/p", "/work/p-old", "/work/p/sub"]),
        ("*-old", ["/work/p-old"]),
        ("c:/work/**", ["C:\\Work\\p"]),
        ("C:\\work\\p", ["C:\\Work\\p"]),
        ("/work/p[1]", []),
    ],
)
def test_filters_look_at_the_workspace(
    data: Data, monkeypatch: pytest.MonkeyPatch, pattern: str, workspaces: list[str]
) -> None:
    monkeypatch.setenv("HOME", "/home/sam")
    names = {}
    everything = ["/work/p", "/work/p/sub", "/work/p-old", "/home/sam/x", "C:\\Work\\p"]
    for number, workspace in enumerate(everything):
        agent = f"a{number:016x}"
        names[f"{PLUGIN}/output/{SESSION}/{agent}.jsonl"] = workspace
        data.stream(agent, SESSION, PLUGIN, observed(root={"path": workspace}))
    included = data.discover(include=[pattern])
    assert sorted(names[src] for src in srcs(included)) == sorted(workspaces)
    excluded = data.discover(exclude=[pattern])
    assert {names[src] for src in srcs(excluded)} == set(everything) - set(workspaces)


def test_the_first_line_that_names_a_workspace_decides(data: Data) -> None:
    lines = [b"not json\n", dump(observed(root=None)), dump(observed(root={"path": "/private/x"}))]
    data.write(MAIN, b"".join([*lines, dump(observed())]))
    assert srcs(data.discover(exclude=["/private/**"])) == []
    assert srcs(data.discover(include=["/private/**"])) == [MAIN]


def test_a_file_that_names_no_workspace(data: Data) -> None:
    data.write(MAIN, dump(observed(root=None)) + b'{"root":7}\n')
    assert srcs(data.discover(exclude=["/private/**"])) == [MAIN]
    assert srcs(data.discover(include=["/work/**"])) == []


def test_a_first_line_of_many_megabytes_is_read_to_its_end(data: Data) -> None:
    hunk = {"lines": ["+" + "x" * (9 << 20)]}
    data.stream("main", SESSION, PLUGIN, observed("toolu_1", change(hunks=[hunk])), observed())
    assert srcs(data.discover(include=["/work/**"])) == [MAIN]
    assert srcs(data.discover(exclude=["/work/**"])) == []


@pytest.mark.parametrize("content", [b"", dump(observed())[:-1]])
def test_a_file_without_a_complete_line_waits(data: Data, content: bytes) -> None:
    """Until then nobody knows whether it is wanted; one that is being read stays in sight."""
    data.write(MAIN, content)
    assert srcs(data.discover()) == []
    assert srcs(data.discover(followed=[MAIN])) == [MAIN]


def test_scratch_directories_are_left_out_unless_asked_for(data: Data) -> None:
    data.stream("main", SESSION, PLUGIN, observed(root={"path": "/private/tmp/x"}))
    assert look(str(data.root)).sessions == ()
    assert srcs(data.discover()) == [MAIN]
