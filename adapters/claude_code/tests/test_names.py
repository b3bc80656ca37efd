"""Names of files and session filters."""

import pytest

from asz_claude_code import layout
from asz_claude_code.filters import converted, session_filter

SESSION = "41090DAB-113C-4a5e-9c1a-2f7f8d1f0a11"


@pytest.mark.parametrize("name", [SESSION, SESSION.lower()])
def test_session_ids_of_either_case(name: str) -> None:
    assert layout.is_session_id(name)


@pytest.mark.parametrize(
    "name", ["memory", SESSION[:-1], SESSION + "0", SESSION + "\n", SESSION.replace("-", ""), ""]
)
def test_what_is_no_session_id(name: str) -> None:
    assert not layout.is_session_id(name)


@pytest.mark.parametrize(
    "agent",
    [
        "a0123456789abcdef",
        "3f9a1c2",
        "3f9a1c2e",
        "amina-lid-b6ba2563bb75702a",
        "acompact-0123456789abcdef",
        "aside_question-0123456789abcdef",
        "aprompt_suggestion-012345",
        "ax.y-z-0123456789abcdef0123456789abcdef",
    ],
)
def test_agent_ids(agent: str) -> None:
    assert layout.is_agent_id(agent)
    assert layout.agent_file(f"agent-{agent}.jsonl") == (agent, ".jsonl")
    assert layout.agent_file(f"agent-{agent}.meta.json") == (agent, ".meta.json")


@pytest.mark.parametrize(
    "agent",
    [
        "A0123456789abcdef",
        "a0123456789abcdeF",
        "a0123456789abcde",
        "123456",
        "b12345678",
        "a-0123456789abcdef",
        "amina/../lid-0123456789abcdef",
        "amina-0123456789abcdef\n",
        "amina-01234",
        "main",
        "",
    ],
)
def test_what_is_no_agent_id(agent: str) -> None:
    assert not layout.is_agent_id(agent)
    assert layout.agent_file(f"agent-{agent}.jsonl") is None


def test_other_files_of_agents() -> None:
    assert layout.agent_file("agent-a0123456789abcdef.jsonl.bak") is None
    assert layout.agent_file("a0123456789abcdef.jsonl") is None


def test_helpers_of_the_runtime() -> None:
    assert layout.is_auxiliary("acompact-0123456789abcdef")
    assert not layout.is_auxiliary("aside-look-aac7b916b350968d")


def test_runs_have_one_form() -> None:
    assert layout.run_of_directory("wf_1a2b-5e6") == "1a2b-5e6"
    assert layout.run_of_directory("1a2b-5e6") == "1a2b-5e6"
    assert layout.run_of_directory("wf_../x") is None
    assert layout.run_of_manifest("wf_1a2b-5e6.json") == "1a2b-5e6"
    assert layout.run_of_manifest("notes.json") is None
    assert layout.run_of_manifest("wf_.json") is None


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("audit-wf_1a2b-5e6.js", "1a2b-5e6"),
        ("audit-wf_manual-wf_1a2b-5e6.js", "1a2b-5e6"),
        ("-wf_1a2b.js", None),
        ("audit-wf_.js", None),
        ("audit-wf_1a2b.ts", None),
        ("helper.js", None),
    ],
)
def test_run_of_a_script_follows_the_last_mark(name: str, run: str | None) -> None:
    assert layout.run_of_script(name) == run


# ---------------------------------------------------------------- filters


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/private/tmp/asz-cc-v04.psixvf", "-private-tmp-asz-cc-v04-psixvf"),
        (
            "/Users/me/Application Support/GoLand2026.1",
            "-Users-me-Application-Support-GoLand2026-1",
        ),
        ("C:\\Users\\me_x", "C--Users-me-x"),
    ],
)
def test_name_of_a_project_directory(path: str, name: str) -> None:
    assert converted(path) == name


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        (
            "/private/tmp/**",
            ["-private-tmp", "-private-tmp-x-y"],
            ["-private-tmpfs", "-x-private-tmp"],
        ),
        ("/srv/my app", ["-srv-my-app"], ["-srv-my-app-x", "-srv-my"]),
        ("/srv/app/", ["-srv-app"], ["-srv-app-x"]),
        ("/srv/v1.2_x/**", ["-srv-v1-2-x-y"], ["-srv-v1"]),
        ("/home/*/work/**", ["-home-me-work", "-home-me-work-x"], ["-home-work"]),
        ("/**", ["-srv", "-home-me"], ["srv"]),
        ("c:\\Users/**", ["C--Users-me", "c--Users"], ["D--Users-me", "C--users"]),
        ("-srv-*", ["-srv-a"], ["-home-srv-a"]),
        ("*kettle*", ["-srv-kettle"], ["-srv-KETTLE"]),
        ("-srv", ["-srv"], ["-srv-a"]),
    ],
)
def test_patterns(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    wanted = session_filter([pattern], [])
    assert all(map(wanted, fits))
    assert not any(map(wanted, fits_not))


def test_a_home_directory_is_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    wanted = session_filter(["~/work/**"], [])
    assert wanted("-home-me-work-x")
    assert not wanted("-home-you-work-x")


def test_exclude_wins() -> None:
    admits = session_filter(["/srv/**"], ["/srv/secret/**"])
    assert admits("-srv-open")
    assert not admits("-srv-secret-x")
    assert not admits("-home")
    assert session_filter([], [])("anything")
