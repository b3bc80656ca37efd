"""An adapter costs only itself: shown with installed packages and the real command line."""

import json
from subprocess import CompletedProcess
from typing import Any

import pytest

BROKEN = ("raises_on_import", "exits_on_import", "contract_99", "claims_claude_code")


def listing(done: CompletedProcess[str]) -> dict[tuple[str, str], Any]:
    """Rows of ``asz adapters --json`` by name and distribution."""
    return {(row["name"], row["distribution"]): row for row in json.loads(done.stdout)}


def test_each_broken_adapter_is_a_row_and_the_others_go_on(asz: Any) -> None:
    done = asz("adapters", "--json", plugins=("working", *BROKEN))
    rows = listing(done)
    assert done.returncode == 1
    assert rows["working", "asz-test-working"]["state"] == "ok"
    assert rows["claude-code", "asz"]["state"] == "ok"
    reasons = {name: row["reason"] for (name, _), row in rows.items() if row["state"] == "broken"}
    assert reasons["raises"] == "import: RuntimeError: raised on import"
    assert reasons["exits"] == "import: SystemExit: 7"
    assert reasons["contract-99"].startswith("contract: built for contract 99, this asz has 1")
    assert len(done.stderr.splitlines()) == len(BROKEN)
    for dist in ("raises", "exits", "contract", "claims"):
        assert f"(asz-test-{dist} 0.1)" in done.stderr


def test_a_taken_name_is_refused_with_both_owners_named(asz: Any) -> None:
    done = asz("adapters", "--json", plugins=("claims_claude_code",))
    rows = listing(done)
    assert rows["claude-code", "asz"]["state"] == "ok"
    refused = rows["claude-code", "asz-test-claims"]
    assert refused["state"] == "broken"
    assert "asz 0." in refused["reason"]
    assert "asz-test-claims 0.1" in refused["reason"]
    assert "AssertionError" not in done.stderr


def test_the_table_shows_what_the_json_shows(asz: Any) -> None:
    done = asz("adapters", plugins=("working", "raises_on_import"))
    header, *rows = done.stdout.splitlines()
    assert header.split() == [
        "NAME",
        "DISTRIBUTION",
        "VERSION",
        "DIALECT",
        "ENABLED",
        "STATE",
        "READS",
    ]
    cells = {row.split()[0]: row.split() for row in rows}
    assert cells["working"][:6] == ["working", "asz-test-working", "0.1", "working/1", "yes", "ok"]
    assert cells["working-off"][3:6] == ["quiet/1", "no", "off"]
    assert "broken: import: RuntimeError: raised on import" in done.stdout


def test_tracebacks_are_for_verbose(asz: Any) -> None:
    quiet = asz("adapters", plugins=("raises_on_import",))
    loud = asz("adapters", "-v", plugins=("raises_on_import",))
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in loud.stderr
    assert 'raise RuntimeError("raised on import")' in loud.stderr


@pytest.mark.parametrize("by", ["raises", "asz-test-raises", "asz_test_raises"])
def test_the_environment_blocks_before_import(asz: Any, by: str) -> None:
    done = asz("adapters", "--json", plugins=("raises_on_import",), ASZ_DISABLE_ADAPTERS=by)
    row = listing(done)["raises", "asz-test-raises"]
    assert (row["state"], row["reason"]) == ("disabled", "ASZ_DISABLE_ADAPTERS")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_environment_wins_over_the_file(asz: Any) -> None:
    asz.config("adapters: [{name: working, enabled: true}]")
    done = asz("adapters", "--json", plugins=("working",), ASZ_DISABLE_ADAPTERS="working")
    assert listing(done)["working", "asz-test-working"]["state"] == "disabled"


def test_a_blocked_adapter_claims_no_name(asz: Any) -> None:
    done = asz("adapters", plugins=("claims_claude_code",), ASZ_DISABLE_ADAPTERS="asz-test-claims")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_name_that_blocks_nothing_is_a_warning(asz: Any) -> None:
    done = asz("adapters", ASZ_DISABLE_ADAPTERS="no-such, ")
    assert done.returncode == 0
    assert done.stderr == (
        "asz: warning: ASZ_DISABLE_ADAPTERS: no adapter or distribution is called 'no-such'\n"
    )


def test_the_file_disables_before_import(asz: Any) -> None:
    path = asz.config("adapters:\n  - name: raises\n    enabled: false\n")
    done = asz("adapters", "--json", plugins=("raises_on_import",))
    row = listing(done)["raises", "asz-test-raises"]
    assert (row["state"], row["reason"]) == ("disabled", f"enabled: false ({path}:3)")
    assert done.returncode == 0


def test_the_option_restricts_to_one_adapter(asz: Any) -> None:
    done = asz("adapters", "--json", "--adapter", "working", plugins=("working", *BROKEN))
    states = {key: row["state"] for key, row in listing(done).items()}
    assert states.pop(("working", "asz-test-working")) == "ok"
    assert set(states.values()) == {"disabled"}
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "no-such",
            "no such adapter is installed (installed: claude-code, claude-code-changes, claude-code-otlp, working, working-off)",
        ),
        ("working-off", "off: off by default; enable it in asz.yaml"),
        ("working", "disabled: enabled: false"),
    ],
)
def test_an_adapter_that_cannot_be_chosen_is_a_wrong_command_line(
    asz: Any, name: str, says: str
) -> None:
    asz.config("adapters: [{name: working, enabled: false}]")
    done = asz("sources", "--adapter", name, plugins=("working",))
    assert done.returncode == 2
    assert f"--adapter {name}: {says}" in done.stderr


def test_naming_an_adapter_in_the_file_enables_one_that_is_off_by_default(asz: Any) -> None:
    asz.config("adapters: [{name: working-off}]")
    rows = listing(asz("adapters", "--json", plugins=("working",)))
    row = rows["working-off", "asz-test-working"]
    assert (row["state"], row["reads"]) == ("ok", ["/quiet"])


def test_one_adapter_several_times_with_labels(asz: Any) -> None:
    first, second = asz.home / "first", asz.home / "second"
    for place in (first, second):
        place.mkdir()
        (place / f"{place.name}.jsonl").write_text('{"id":"1","from":"person","text":"hi"}\n')
    asz.config(
        "adapters:\n"
        f"  - {{name: working, label: one, source_root: '{first}'}}\n"
        f"  - {{name: working, label: two, source_root: '{second}'}}\n"
    )
    done = asz("sources", "--json", "--adapter", "working", plugins=("working",))
    found = {entry["label"]: entry for entry in json.loads(done.stdout)}
    assert found["one"]["roots"] == [str(first)]
    assert [session["id"] for session in found["two"]["sessions"]] == ["second"]


def test_the_configuration_names_who_set_each_option(asz: Any) -> None:
    path = asz.config(
        "adapters:\n"
        "  - {name: working, label: one, source_root: /one}\n"
        "  - name: working\n"
        "    label: two\n"
        "    enabled: false\n"
    )
    done = asz("config", "--json", plugins=("working",), ASZ_DISABLE_ADAPTERS="working-off")
    shown = json.loads(done.stdout)
    values = {item["key"]: (item["value"], item["origin"]) for item in shown["settings"]}
    assert shown["file"] == str(path)
    assert values["adapters.working[one].enabled"] == (True, "default")
    assert values["adapters.working[one].source_root"] == ("/one", f"{path}:2")
    assert values["adapters.working[one].include"] == ([], "default")
    assert values["adapters.working[two].enabled"] == (False, f"{path}:5")
    assert values["adapters.working-off.enabled"] == (False, "ASZ_DISABLE_ADAPTERS")


def test_the_glossary_of_each_adapter(asz: Any) -> None:
    done = asz("glossary", "--json", "--adapter", "working", plugins=("working",))
    (found,) = json.loads(done.stdout).values()
    assert found["runtime"] == "Working Agent"
    words = {term["name"]: (term["native"], term["where"]) for term in found["terms"]}
    assert words["message.external"] == ("person", "from")
    assert words["tool"] == ("", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "adapters:\n  - name: claude-cod\n",
            (
                ":2: adapters: expected an installed adapter "
                "(claude-code, claude-code-changes, claude-code-otlp, working, working-off), found 'claude-cod'"
            ),
        ),
        (
            "adapters:\n  - name: working\n    sauce_root: /x\n",
            ":3: working.sauce_root: unknown key, expected one of: source_root, include",
        ),
        (
            "adapters:\n  - name: working\n    label: a\n    include:\n      - /x\n      - 7\n",
            ":6: working[a].include[1]: expected a valid string, found 7",
        ),
        (
            "adapters:\n  - {name: working-off, speed: 3}\n",
            ":2: speed: working-off takes no options",
        ),
    ],
)
def test_entries_are_checked_by_the_adapters_there_are(asz: Any, text: str, says: str) -> None:
    path = asz.config(text)
    done = asz("adapters", plugins=("working",))
    assert done.returncode == 2
    assert done.stderr == f"asz: error: {path}{says}\n"


def test_an_adapter_that_cannot_say_who_it_is_is_broken(asz: Any) -> None:
    done = asz("adapters", "--json", plugins=("faulty", "working"), ASZ_TEST_FAULTY="asz_adapter")
    rows = listing(done)
    reason = rows["faulty", "asz-test-faulty"]["reason"]
    assert reason == "asz_adapter: ZeroDivisionError: asz_adapter raised over two lines"
    assert rows["working", "asz-test-working"]["state"] == "ok"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("command", "hook"),
    [("sources", "asz_discover"), ("adapters", "asz_discover"), ("glossary", "asz_glossary")],
)
def test_a_hook_that_raises_names_adapter_distribution_version_and_hook(
    asz: Any, command: str, hook: str
) -> None:
    done = asz(command, plugins=("faulty", "working"), ASZ_TEST_FAULTY=hook)
    assert done.returncode == 1
    assert done.stderr == (
        f"asz: error: adapter faulty (asz-test-faulty 0.1) {hook}: "
        f"ZeroDivisionError: {hook} raised over two lines\n"
    )
    assert "working" in done.stdout


def test_hostile_names_are_refused_and_named(asz: Any) -> None:
    done = asz("sources", "--json", "--adapter", "hostile", plugins=("hostile",))
    (found,) = json.loads(done.stdout)
    (session,) = found["sessions"]
    assert session["id"] == "hostile-session"
    assert [source["src"] for source in session["sources"]] == ["log"]
    lines = done.stderr.splitlines()
    assert len(lines) == len(found["problems"]) == 25
    assert all(line.startswith("asz: error: adapter hostile: session") for line in lines)
    assert done.returncode == 1


def test_nothing_an_adapter_says_reaches_the_terminal_raw(asz: Any) -> None:
    for args in (("adapters",), ("sources",), ("glossary", "--adapter", "hostile")):
        done = asz(*args, plugins=("hostile",))
        assert "\\x1b[31m" in done.stdout
        for output in (done.stdout, done.stderr):
            assert "\x1b" not in output
            assert "\u202e" not in output
