"""The frame all commands share: exit statuses, options, start-up, output."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from asz.cli import app, main
from asz.cli.app import COMMANDS
from asz.cli.ids import resolve
from asz.cli.invocation import Invocation
from asz.errors import AdapterFailure, AszError, ChainError, ConfigError, NotFoundError


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No configuration, no history, no storage root."""
    for name in (
        "ASZ_CONFIG",
        "ASZ_ROOT",
        "ASZ_DISABLE_ADAPTERS",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- start-up


def loaded_by(*args: str) -> set[str]:
    """Modules that are imported when a command ended."""
    code = (
        "import sys\nfrom asz.cli import main\nstatus = main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)\nsys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("args", [("--help",), ("version",), ("--version",), ("collect", "--help")])
def test_help_and_version_import_nothing_heavy(args: tuple[str, ...]) -> None:
    heavy = {"pydantic", "yaml", "rich", "pluggy", "importlib_metadata", "sqlite3", "msgspec"}
    loaded = loaded_by(*args)
    assert not loaded & heavy
    assert not {name for name in loaded if name.startswith("asz_")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_the_common_options(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--config FILE", "--root DIR", "-v, --verbose"):
        assert option in shown


def test_the_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)


# ---------------------------------------------------------------- options and statuses


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == main(["--version"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert main(["version", "--json"]) == 0
    assert f"asz {json.loads(capsys.readouterr().out)['asz']}" == first


def test_common_options_are_taken_before_and_after_the_command(
    capsys: pytest.CaptureFixture[str], empty_home: Path
) -> None:
    for args in (["--root", "here", "config"], ["config", "--root", "here"]):
        assert main([*args, "--json"]) == 0
        settings = json.loads(capsys.readouterr().out)["settings"]
        assert settings[0] == {
            "key": "storage.root",
            "value": str(empty_home / "here"),
            "origin": "--root",
        }


def test_the_later_option_wins(capsys: pytest.CaptureFixture[str], empty_home: Path) -> None:
    assert main(["--root", "first", "config", "--root", "second"]) == 0
    assert str(empty_home / "second") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["no-such"], "No such command 'no-such'. (see: asz --help)"),
        (["version", "--no-such"], "No such option '--no-such'. (see: asz version --help)"),
        (["show", "one"], "Missing argument 'ID'. (see: asz show --help)"),
        (["config", "--config", "gone"], "gone: no such file, --config names it"),
        (["conf\x1b[31m"], "No such command 'conf\\x1b[31m'"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(
    args: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("asz: error: ")
    assert says in shown.err
    assert shown.err.count("\n") == 1


def test_no_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_no_root_yet_is_one_line(capsys: pytest.CaptureFixture[str], empty_home: Path) -> None:
    assert main(["conversations", "--root", "nothing"]) == 1
    assert capsys.readouterr().err == (
        f"asz: error: {empty_home}/nothing: no storage root here yet; run: asz collect\n"
    )


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (AszError("a thing"), 1, "a thing"),
        (ConfigError("a key"), 2, "a key"),
        (ChainError("two\nlines\x1b"), 1, "two\\nlines\\x1b"),
        (AdapterFailure("a", "d", "1", "asz_land", "no"), 1, "adapter a (d 1) asz_land: no"),
        (PermissionError(13, "Permission denied", "/x"), 1, "/x: Permission denied"),
        (ZeroDivisionError("by zero"), 1, "unexpected ZeroDivisionError: by zero"),
        (EOFError("early"), 1, "unexpected EOFError: early"),
    ],
)
def test_what_a_command_raises_is_one_line_and_a_status(
    error: Exception, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> int:
        raise error

    assert Invocation().run(command) == status
    shown = capsys.readouterr().err
    assert shown.startswith(f"asz: error: {says}")
    assert shown.count("\n") == 1
    assert Invocation(verbose=True).run(command) == status
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(app.asz.commands, "interrupted", interrupted)
    monkeypatch.setattr(app, "COMMANDS", ())
    monkeypatch.setattr(app.asz, "get_command", lambda _context, _name: interrupted)
    assert main(["interrupted"]) == 130


def test_a_reader_that_leaves_is_no_error(empty_home: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m asz glossary 2>err | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0
    assert (empty_home / "err").read_text() == ""


def test_a_terminal_without_unicode_is_no_error(empty_home: Path) -> None:
    (empty_home / "asz.yaml").write_text("storage: {root: 日本}", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "asz", "--config", "asz.yaml", "config"],
        env={"PATH": "", "PYTHONIOENCODING": "latin-1", "PYTHONPATH": ":".join(sys.path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u65e5\\u672c" in done.stdout


# ---------------------------------------------------------------- ids


def test_an_id_may_be_shortened_to_what_is_unique() -> None:
    known = ["abc", "abd", "ab", "x"]
    assert resolve("abc", known, "session") == "abc"
    assert resolve("ab", known, "session") == "ab"
    assert resolve("x", known, "session") == "x"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("z", "no session has an id that is or begins with 'z'"),
        ("", "no session has an id that is or begins with ''"),
        ("a", "2 sessions have an id that begins with 'a': abc, abd; give more of it"),
    ],
)
def test_an_id_that_names_none_or_several(given: str, says: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve(given, ["abc", "abd"], "session")
    assert str(caught.value) == says
