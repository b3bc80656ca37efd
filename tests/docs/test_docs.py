"""What the documentation says is so: names, signatures, keys, links, and the output of every command."""

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from asz.cli.app import COMMANDS
from asz.config import Collector, Otlp, Parse
from asz.config.durations import format_duration
from asz.config.load import CONFIG_VARIABLE, ROOT_VARIABLE
from asz.config.schema import AdapterSection, ConfigFile, OtlpSection
from asz.export import records as export_records
from asz.flow.sf import RoundHeader
from asz.plugins.selection import BLOCK_VARIABLE
from asz.storage.sd import Header, LandedPart, LandedRecord
from asz_claude_code.options import Options
from asz_claude_code_otlp.options import Options as Receiving
from asz_hookspecs import specs, vocabulary

from ..support.otlp import grpc_receiver
from .pages import (
    CHECKOUT,
    anchor,
    commands,
    first_column,
    headings,
    links,
    named_blocks,
    page,
    pages,
    section,
)
from .shell import Shell, differences, python_path

HOOKS = [name for name in dir(specs) if name.startswith("asz_")]
ADAPTER = "writing-an-adapter.md"
HISTORY = "~/.parrot/first.jsonl"


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    for link in links(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        file, _, fragment = link.partition("#")
        target = (path.parent / file) if file else path
        assert target.exists(), link
        if fragment:
            names = map(anchor, headings(target.read_text(encoding="utf-8")))
            assert fragment in set(names), link


def test_every_page_is_reached_from_the_readme() -> None:
    reached = {CHECKOUT / "README.md"}
    waiting = list(reached)
    while waiting:
        path = waiting.pop()
        for link in links(path.read_text(encoding="utf-8")):
            target = (path.parent / link.partition("#")[0]).resolve()
            if "://" not in link and target.suffix == ".md" and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert set(pages()) - reached == set()


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_a_heading_with_its_arguments(hook: str) -> None:
    arguments = ", ".join(inspect.signature(getattr(specs, hook)).parameters)
    assert f"`{hook}({arguments})`" in headings(page(ADAPTER))


def test_no_other_hook_is_described() -> None:
    described = {
        match[1] for match in re.finditer(r"`(asz_\w+)\(", "\n".join(headings(page(ADAPTER))))
    }
    assert described == set(HOOKS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("assembly.md", vocabulary.STEPS),
        ("assembly.md", vocabulary.CONTAINERS),
        ("assembly.md", vocabulary.RELATIONS),
        ("assembly.md", vocabulary.UNRESOLVED),
        ("session-data.md", vocabulary.FLAGS),
        ("session-data.md", vocabulary.PART_KINDS),
        ("session-data.md", vocabulary.PART_STATES),
        ("session-data.md", vocabulary.TRIGGERS),
        ("session-data.md", tuple(field.encode_name for field in msgspec.structs.fields(Header))),
        ("session-data.md", tuple(f.encode_name for f in msgspec.structs.fields(LandedRecord))),
        (
            "session-data.md",
            tuple(field.encode_name for field in msgspec.structs.fields(LandedPart)),
        ),
        (
            "session-flow.md",
            tuple(field.encode_name for field in msgspec.structs.fields(RoundHeader)),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_every_name_is_explained(name: str, words: tuple[str, ...]) -> None:
    explained = set(re.findall(r"`(?:asz )?([\w.]+)", page(name)))
    assert [word for word in words if word not in explained] == []


def test_commands_on_the_pages_exist() -> None:
    for path in pages():
        for word in re.findall(r"\basz ([a-z]+)\b", "\n".join(_code(path))):
            assert word in COMMANDS, f"{path}: asz {word}"


def _code(path: Path) -> Iterator[str]:
    """What stands in code: console lines and backquotes that begin with the command."""
    text = path.read_text(encoding="utf-8")
    yield from (command.line for command in commands(text))
    yield from re.findall(r"`(asz [^`\n]+)`", text)


# ---------------------------------------------------------------- configuration


def keys() -> dict[str, str]:
    """Every key of asz.yaml with its default as the page writes it."""
    found = {"storage.root": "empty"}
    for above, defaults in (("collector", Collector()), ("parse", Parse())):
        for name in ConfigFile.model_fields[above].annotation.model_fields:  # type: ignore[union-attr]
            value = getattr(defaults, name)
            found[f"{above}.{name}"] = (
                f"`{format_duration(value) if name == 'interval' else value}`"
            )
    for name in OtlpSection.model_fields:
        value = getattr(Otlp(), name)
        shown = format_duration(value) if name == "timeout" else value
        shown = str(shown).lower() if isinstance(shown, bool) else shown
        found[f"export.otlp.{name}"] = "empty" if shown in ("", None) else f"`{shown}`"
    found |= {f"adapters[].{name}": "" for name in AdapterSection.model_fields}
    for name, value in Options().model_dump().items():
        found[f"adapters[].{name}"] = f'`["{value[0]}"]`' if value else "empty"
    for name, value in Receiving().model_dump().items():
        found[f"adapters[].{name}"] = f"`{str(value).lower()}`"
    return found


def test_configuration_keys_and_their_defaults() -> None:
    shown = {
        cells[0]: cells[1] for cells in first_column(page("configuration.md")) if "." in cells[0]
    }
    expected = keys()
    assert sorted(shown) == sorted(expected)
    assert {key: shown[key] for key, value in expected.items() if value} == {
        key: value for key, value in expected.items() if value
    }


def test_configuration_names_the_variables() -> None:
    named = set(re.findall(r"\bASZ_[A-Z_]+\b", page("configuration.md")))
    assert named == {CONFIG_VARIABLE, ROOT_VARIABLE, BLOCK_VARIABLE}


def test_the_example_configuration_is_accepted(tmp_path: Path) -> None:
    text = named_blocks(page("configuration.md"))["asz.yaml"]
    for place in re.findall(r"~/([\w./-]+)", text):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    shell = Shell(tmp_path)
    shell.config(text)
    assert not [line for line in shell.run("asz config") if "error" in line]


# ---------------------------------------------------------------- what is shown was run


def check(text: str, shell: Shell) -> None:
    """Run the ``asz`` commands of a page in order and compare what they print."""
    ran = 0
    for command in commands(text):
        if command.line.startswith("export "):
            shell.export(command.line)
        elif re.match(r"(\S*/)?asz ", command.line):
            real = shell.run(command.line)
            assert differences(command.output, real) == [], command.line
            ran += 1
    assert ran


def test_the_readme_shows_what_happens(tmp_path: Path) -> None:
    check((CHECKOUT / "README.md").read_text(encoding="utf-8"), Shell(tmp_path))


@pytest.fixture
def sample(tmp_path: Path) -> Shell:
    """A home in which the sample is what was collected."""
    shell = Shell(tmp_path)
    shell.run("asz collect --sample")
    shell.export("export ASZ_ROOT=~/.local/share/asz-sample")
    return shell


def test_beginning_a_new_chain(sample: Shell) -> None:
    check(section(page("session-flow.md"), "How a chain grows"), sample)


def test_what_a_tool_changed(sample: Shell) -> None:
    check(section(page("workspace-changes.md"), "What Claude Code reports"), sample)


def test_adding_up_tokens(sample: Shell) -> None:
    check(section(page("metrics.md"), "Adding up, and comparing with other tools"), sample)


def test_pushing_to_a_receiver(sample: Shell) -> None:
    text = page("push.md")
    with grpc_receiver() as receiver:
        settings = named_blocks(text)["asz.yaml"].replace("localhost:4317", receiver.endpoint)
        sample.config(settings)
        check(section(text, "Trying it"), sample)
        assert len(receiver.inbox.paths()) == 11


def test_what_a_receiver_gets_is_described() -> None:
    described = set(re.findall(r"`(asz\.[\w.]+)`", section(page("push.md"), "What is sent")))
    source = inspect.getsource(export_records)
    assert described == set(re.findall(r'"(asz\.[a-z._]+)"', source))


def test_a_session_that_was_removed(sample: Shell) -> None:
    (directory,) = Path(sample.env["ASZ_ROOT"]).glob("4be1*")
    shutil.rmtree(directory)
    check(section(page("storage-root.md"), "Retention"), sample)


def test_a_source_that_was_rewritten(tmp_path: Path) -> None:
    project = tmp_path / ".claude/projects/-home-sam-p"
    project.mkdir(parents=True)
    transcript = project / "11111111-2222-4333-8444-555555555555.jsonl"
    first, second = (b'{"text":"%s"}\n' % (b"x" * size) for size in (137, 180))
    transcript.write_bytes(first + second)
    shell = Shell(tmp_path)
    shell.run("asz collect --once")
    transcript.write_bytes(first)
    check(section(page("storage-root.md"), "Sources that are rewritten"), shell)


@pytest.fixture(scope="module")
def parrot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The adapter of the page, installed as the package the page says it is."""
    project = tmp_path_factory.mktemp("parrot")
    for name, text in named_blocks(page(ADAPTER)).items():
        if name != HISTORY:
            (project / name).write_text(text, encoding="utf-8")
    sample = project / "sample"
    sample.mkdir()
    (sample / "first.jsonl").write_text(named_blocks(page(ADAPTER))[HISTORY], encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(project / "site")]
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir"]
    subprocess.run([*pip, *offline, str(project)], check=True, capture_output=True)
    return project


def test_the_adapter_of_the_page_works_as_shown(parrot: Path, tmp_path: Path) -> None:
    history = tmp_path / ".parrot"
    history.mkdir()
    (history / "first.jsonl").write_bytes((parrot / "sample" / "first.jsonl").read_bytes())
    check(page(ADAPTER), Shell(tmp_path, parrot / "site"))


def test_the_adapter_of_the_page_passes_the_suite(parrot: Path) -> None:
    shown = next(c for c in commands(page(ADAPTER)) if c.line.startswith("pytest "))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "test_parrot.py"],
        cwd=parrot,
        env={"PATH": "", "PYTHONPATH": python_path(parrot / "site"), "HOME": str(parrot)},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    count = re.search(r"(\d+) passed", shown.output[-1])
    assert count is not None
    assert count[0] in done.stdout
