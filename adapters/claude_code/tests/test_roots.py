"""Where discovery looks, and what it says of what it cannot look at."""

import os
from pathlib import Path

import pytest

from asz_claude_code.discover import discover
from asz_claude_code.options import Options
from asz_hookspecs import AdapterError, Discovery

from .tree import AGENT, HOME, OTHER, RUN, SESSION, Tree, sources_of, srcs, unprivileged


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with none of Claude Code's settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def look(source_root: str | list[str] = "") -> Discovery:
    return discover(Options(source_root=source_root), lambda _: frozenset())


def session_below(root: Path, session: str = SESSION) -> None:
    Tree(root).write(f"{HOME}/{session}.jsonl")


def test_default_places_are_all_read(home: Path) -> None:
    session_below(home / ".claude" / "projects")
    session_below(home / ".config" / "claude" / "projects", OTHER)
    assert {one.id for one in look().sessions} == {SESSION, OTHER}


def test_xdg_config_home_takes_the_place_of_dot_config(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    session_below(home / "xdg" / "claude" / "projects")
    session_below(home / ".config" / "claude" / "projects", OTHER)
    assert [one.id for one in look().sessions] == [SESSION]


def test_nothing_installed_is_no_error(home: Path) -> None:
    found = look()
    assert (found.sessions, found.problems, found.complete) == ((), (), True)
    assert len(found.roots) == 2
    (note,) = found.notes
    assert str(home / ".claude" / "projects") in note


def test_claude_config_dir_is_the_only_place(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_below(home / ".claude" / "projects")
    session_below(home / "account" / "projects", OTHER)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "account"))
    assert [one.id for one in look().sessions] == [OTHER]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "none"))
    with pytest.raises(AdapterError, match=r"CLAUDE_CONFIG_DIR: .*none/projects does not exist"):
        look()


def test_source_root_wins_over_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_below(home / "here")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "none"))
    assert [one.id for one in look("~/here").sessions] == [SESSION]


def test_a_named_root_that_is_missing_or_a_file(home: Path) -> None:
    (home / "file").write_text("")
    (home / "good").mkdir()
    with pytest.raises(AdapterError, match="does not exist"):
        look([str(home / "good"), str(home / "missing")])
    with pytest.raises(AdapterError, match="is not a directory"):
        look(str(home / "file"))


# ---------------------------------------------------------------- what cannot be read


def test_a_named_root_that_cannot_be_listed(open_tree: Tree) -> None:
    open_tree.root.chmod(0)
    with unprivileged(), pytest.raises(AdapterError, match="cannot list"):
        open_tree.discover()


def test_a_default_root_that_cannot_be_listed(
    open_tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = open_tree.root.parent
    monkeypatch.setenv("HOME", str(base))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(base / "xdg"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    closed = base / ".claude" / "projects"
    closed.mkdir(parents=True)
    closed.chmod(0)
    with unprivileged():
        found = look()
    assert not found.complete
    assert "denied" in found.problems[0].message


def test_a_project_directory_that_cannot_be_read(open_tree: Tree) -> None:
    open_tree.write(f"{HOME}/{SESSION}.jsonl")
    open_tree.write(f"-closed/{OTHER}.jsonl").parent.chmod(0)
    with unprivileged():
        found = open_tree.discover()
    assert [one.id for one in found.sessions] == [SESSION]
    (problem,) = found.problems
    assert problem.hides == "-closed/"
    assert str(open_tree.root / "-closed") in problem.message
    assert not found.complete


@pytest.mark.parametrize(
    "below",
    [
        "",
        "/subagents",
        "/subagents/workflows",
        f"/subagents/workflows/{RUN}",
        "/workflows",
        "/workflows/scripts",
    ],
)
def test_a_directory_inside_a_session_that_cannot_be_read(open_tree: Tree, below: str) -> None:
    closed = f"{HOME}/{SESSION}{below}"
    open_tree.write(f"{HOME}/{SESSION}.jsonl")
    (open_tree.root / closed).mkdir(parents=True)
    (open_tree.root / closed).chmod(0)
    with unprivileged():
        found = open_tree.discover()
    assert srcs(sources_of(found)) == [f"{HOME}/{SESSION}.jsonl"]
    assert [problem.hides for problem in found.problems] == [f"{closed}/"]
    assert found.complete


def test_an_agent_beside_that_cannot_be_read(open_tree: Tree) -> None:
    open_tree.write(f"{HOME}/agent-3f9a1c2e.jsonl").chmod(0)
    with unprivileged():
        found = open_tree.discover()
    assert [problem.hides for problem in found.problems] == [f"{HOME}/agent-3f9a1c2e.jsonl"]


def test_a_name_that_is_no_utf_8(tree: Tree) -> None:
    name = os.fsencode(tree.root) + b"/-srv-\xff"
    try:
        os.mkdir(name)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    Path(os.fsdecode(name), f"{SESSION}.jsonl").write_bytes(b"{}\n")
    tree.write(f"{HOME}/{OTHER}.jsonl")
    found = tree.discover()
    assert [one.id for one in found.sessions] == [OTHER]
    assert "UTF-8" in found.problems[0].message


# ---------------------------------------------------------------- symbolic links


def test_links_inside_the_root_are_followed(tree: Tree) -> None:
    stored = tree.write(".store/transcript.jsonl")
    tree.link(f"{HOME}/{SESSION}.jsonl", stored)
    agents = tree.write(f".store/agents/agent-{AGENT}.jsonl").parent
    tree.link(f"{HOME}/{SESSION}/subagents", agents)
    found = tree.discover()
    assert srcs(sources_of(found)) == [
        f"{HOME}/{SESSION}.jsonl",
        f"{HOME}/{SESSION}/subagents/agent-{AGENT}.jsonl",
    ]
    assert found.problems == ()


@pytest.mark.parametrize("src", [HOME, f"{HOME}/{SESSION}", f"{HOME}/{SESSION}.jsonl"])
def test_links_out_of_the_root_are_reported(tree: Tree, tmp_path: Path, src: str) -> None:
    outside = Tree(tmp_path / "outside").write(f"{SESSION}/subagents/agent-{AGENT}.jsonl")
    tree.link(src, outside if src.endswith("jsonl") else outside.parents[2])
    found = tree.discover()
    assert found.sessions == ()
    assert [problem.hides for problem in found.problems] == [src]
    assert "out of the source root" in found.problems[0].message


@pytest.mark.parametrize("src", [f"{HOME}/memory", f"{HOME}/{SESSION}/tool-results"])
def test_links_that_cannot_matter_are_left_alone(tree: Tree, tmp_path: Path, src: str) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    tree.link(src, tmp_path)
    found = tree.discover()
    assert (srcs(sources_of(found)), found.problems) == ([f"{HOME}/{SESSION}.jsonl"], ())


def test_loops_are_reported(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    tree.link(f"{HOME}/{OTHER}", tree.root / HOME)
    tree.link("-up", tree.root)
    tree.link("-self", tree.root / "-self")
    found = tree.discover()
    assert srcs(sources_of(found)) == [f"{HOME}/{SESSION}.jsonl"]
    assert sorted(str(problem.hides) for problem in found.problems) == sorted(
        [f"{HOME}/{OTHER}", "-up", "-self"]
    )


def test_a_second_name_is_not_a_second_source(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    tree.link("-alias", HOME)
    tree.link(f"-other/{SESSION}.jsonl", tree.root / HOME / f"{SESSION}.jsonl")
    found = tree.discover()
    assert srcs(sources_of(found)) == [f"{HOME}/{SESSION}.jsonl"]
    assert (found.problems, len(found.notes)) == ((), 2)


def test_a_link_to_nothing_is_nothing(tree: Tree) -> None:
    tree.link(f"{HOME}/{SESSION}.jsonl", "gone")
    found = tree.discover()
    assert (found.sessions, found.problems) == ((), ())


def test_the_root_may_be_a_link_itself(tree: Tree, tmp_path: Path) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    (tmp_path / "link").symlink_to(tree.root)
    found = tree.discover(source_root=str(tmp_path / "link"))
    assert [source.root for source in sources_of(found)] == [str(tmp_path / "link")]


def test_a_root_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(str(tmp_path)) + b"/r\xff")
    os.makedirs(name)
    with pytest.raises(AdapterError, match="not UTF-8"):
        look(name)


def test_a_link_whose_target_has_gone_is_nothing(tmp_path: Path) -> None:
    session_below(tmp_path)
    (tmp_path / HOME / f"{OTHER}.jsonl").symlink_to("nowhere")
    found = look(str(tmp_path))
    assert ([one.id for one in found.sessions], found.problems) == ([SESSION], ())
