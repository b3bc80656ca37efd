"""Which files belong to which session."""

import os
from pathlib import Path

import pytest

from asz_hookspecs import Source

from .tree import AGENT, AWAY, HOME, OTHER, RUN, SESSION, Tree, session_in, sources_of, srcs


def test_every_kind_of_source(tree: Tree) -> None:
    inside = f"{HOME}/{SESSION}"
    expected = {
        f"{inside}.jsonl": ("transcript", "lines", "main", None),
        f"{inside}/subagents/agent-{AGENT}.jsonl": ("transcript", "lines", AGENT, None),
        f"{inside}/subagents/agent-{AGENT}.meta.json": ("agent_meta", "document", AGENT, None),
        f"{inside}/subagents/workflows/{RUN}/agent-3f9a1c2e.jsonl": (
            "transcript",
            "lines",
            "3f9a1c2e",
            None,
        ),
        f"{inside}/subagents/workflows/{RUN}/journal.jsonl": ("journal", "lines", None, RUN[3:]),
        f"{inside}/workflows/{RUN}.json": ("workflow_manifest", "document", None, RUN[3:]),
        f"{inside}/workflows/scripts/a-wf_b-{RUN}.js": (
            "workflow_script",
            "document",
            None,
            RUN[3:],
        ),
    }
    for src in expected:
        tree.write(src)
    found = {
        source.src: (source.kind, source.shape, source.stream, source.batch)
        for source in tree.sources()
    }
    assert found == expected
    assert {source.root for source in tree.sources()} == {str(tree.root)}


def test_helpers_of_the_runtime_are_marked(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}/subagents/agent-acompact-0123456789abcdef.jsonl")
    tree.write(f"{HOME}/{SESSION}/subagents/agent-{AGENT}.jsonl")
    marked = {source.stream: source.auxiliary for source in tree.sources()}
    assert marked == {"acompact-0123456789abcdef": True, AGENT: False}


def test_what_is_not_read(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    for src in (
        f"{HOME}/memory/{OTHER}.jsonl",
        f"{HOME}/sessions-index.json",
        f"{HOME}/notes.jsonl",
        f"{HOME}/{SESSION}/tool-results/toolu_1.txt",
        f"{HOME}/{SESSION}/subagents/{AGENT}.jsonl",
        f"{HOME}/{SESSION}/subagents/workflows/{RUN}/deeper/agent-{AGENT}.jsonl",
        f"{HOME}/{SESSION}/workflows/notes.json",
        f"{HOME}/{SESSION}/workflows/scripts/helper.js",
        f"{OTHER}.jsonl",
    ):
        tree.write(src)
    found = tree.discover()
    assert srcs(sources_of(found)) == [f"{HOME}/{SESSION}.jsonl"]
    assert len(found.sessions) == 1
    assert found.skipped == ()


def test_agent_names_that_are_not_read_are_named(tree: Tree) -> None:
    inside = f"{HOME}/{SESSION}"
    names = [
        f"{inside}/subagents/agent-{AGENT.upper()}.jsonl",
        f"{inside}/subagents/agent-{AGENT}.jsonl.bak",
        f"{inside}/subagents/workflows/agent-{AGENT}.jsonl",
        f"{inside}/agent-{AGENT}.jsonl",
        f"{HOME}/agent-{AGENT}.meta.json",
    ]
    for src in names:
        tree.write(src)
    found = tree.discover()
    assert found.sessions == ()
    assert len(found.skipped) == len(names)
    for src in names:
        assert any(line.startswith(f"{tree.root / src}: ") for line in found.skipped)


def test_ids_that_differ_in_case_are_two_sessions(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    tree.write(f"{AWAY}/{SESSION.upper()}.jsonl")
    assert sorted(one.id for one in tree.discover().sessions) == sorted([SESSION, SESSION.upper()])


def test_a_session_without_its_main_transcript(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}/subagents/agent-{AGENT}.jsonl")
    assert [source.stream for source in tree.sources()] == [AGENT]


def test_empty_files_are_sources(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl", b"")
    tree.write(f"{HOME}/{SESSION}/subagents/agent-{AGENT}.meta.json", b"")
    assert len(tree.sources()) == 2


def test_a_directory_without_sources_is_no_session(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}/tool-results/toolu_1.txt")
    assert tree.discover().sessions == ()


def test_things_that_are_no_files_are_named(tree: Tree) -> None:
    (tree.root / HOME / f"{SESSION}.jsonl").mkdir(parents=True)
    os.mkfifo(tree.root / HOME / f"{OTHER}.jsonl")
    tree.write(OTHER, b"a file where a project directory is expected")
    found = tree.discover()
    assert found.sessions == ()
    assert [problem.hides for problem in found.problems] == [
        f"{HOME}/{SESSION}.jsonl",
        f"{HOME}/{OTHER}.jsonl",
    ]
    assert all("not a regular file" in problem.message for problem in found.problems)


# ---------------------------------------------------------------- one session in several directories


def test_a_script_travels_without_its_session(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    script = f"{AWAY}/{SESSION}/workflows/scripts/audit-{RUN}.js"
    tree.write(script)
    assert srcs(tree.sources()) == [f"{HOME}/{SESSION}.jsonl", script]


def test_the_directory_of_the_main_transcript_comes_first(tree: Tree) -> None:
    for name in ("b.", "-a", "-z"):
        tree.write(f"{name}/{SESSION}/subagents/agent-{AGENT}.jsonl")
    tree.write(f"-z/{SESSION}.jsonl")
    assert [src.split("/")[0] for src in srcs(tree.sources())] == ["-z", "-z", "-a", "b."]


def test_of_several_mains_the_largest_then_the_first(tree: Tree) -> None:
    tree.write(f"-a/{SESSION}.jsonl", b"{}\n")
    tree.write(f"-b/{SESSION}.jsonl", b"{}\n{}\n")
    tree.write(f"-c/{SESSION}.jsonl", b"{}\n{}\n")
    assert srcs(tree.sources()) == [f"{name}/{SESSION}.jsonl" for name in ("-b", "-a", "-c")]


def test_the_main_that_a_cursor_follows_stays_first(tree: Tree) -> None:
    tree.write(f"-a/{SESSION}.jsonl", b"{}\n")
    tree.write(f"-b/{SESSION}.jsonl", b"{}\n{}\n")
    found = tree.discover(followed=[f"-a/{SESSION}.jsonl"])
    assert srcs(sources_of(found))[0] == f"-a/{SESSION}.jsonl"


def test_without_a_main_the_directory_with_most_sources(tree: Tree) -> None:
    tree.write(f"-a/{SESSION}/workflows/scripts/x-{RUN}.js")
    for agent in (AGENT, "3f9a1c2e"):
        tree.write(f"-b/{SESSION}/subagents/agent-{agent}.jsonl")
    found = tree.discover(include=["-b"])
    assert len(sources_of(found)) == 3
    assert tree.discover(include=["-a"]).sessions == ()


def test_filters_look_at_the_primary_directory_only(tree: Tree) -> None:
    tree.write(f"-private-tmp-x/{SESSION}.jsonl")
    tree.write(f"-private-tmp/{OTHER}/workflows/scripts/x-{RUN}.js")
    tree.write(f"{HOME}/{OTHER}.jsonl")
    found = tree.discover(exclude=["/private/tmp/**"])
    assert [one.id for one in found.sessions] == [OTHER]
    assert len(session_in(found, OTHER).sources) == 2


# ---------------------------------------------------------------- agents beside the main transcripts


def test_an_agent_beside_belongs_to_the_session_it_names(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    head = b'{torn\n{"isSidechain":true,"sessionId":"%s"}\n' % SESSION.encode()
    tree.write(f"{HOME}/agent-3f9a1c2e.jsonl", head)
    assert [source.stream for source in tree.sources()] == ["main", "3f9a1c2e"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{torn\n", b'{"uuid":"u1"}\n', b'{"sessionId":"../x"}\n', b'{"sessionId":7}\n'],
)
def test_an_agent_beside_that_names_none_is_skipped(tree: Tree, content: bytes) -> None:
    tree.write(f"{HOME}/agent-3f9a1c2e.jsonl", content)
    found = tree.discover()
    assert (found.sessions, len(found.skipped)) == ((), 1)


# ---------------------------------------------------------------- several roots


def test_one_session_under_two_roots(tree: Tree, tmp_path: Path) -> None:
    second = Tree(tmp_path / "copy")
    for root in (tree, second):
        root.write(f"{HOME}/{SESSION}.jsonl")
        root.write(f"{HOME}/{SESSION}/workflows/scripts/x-{RUN}.js")
    found = tree.discover(source_root=[str(tree.root), str(second.root)])

    def place(source: Source) -> tuple[str, str]:
        return Path(source.root).name, source.kind

    assert [place(source) for source in sources_of(found)] == [
        ("projects", "transcript"),
        ("projects", "workflow_script"),
        ("copy", "transcript"),
    ]
    assert len(found.skipped) == 1
    assert found.roots == (str(tree.root), str(second.root))


def test_one_root_given_twice_is_read_once(tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    found = tree.discover(source_root=[str(tree.root), f"{tree.root}/."])
    assert len(sources_of(found)) == 1
