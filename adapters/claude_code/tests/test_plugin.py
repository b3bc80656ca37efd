"""The adapter as the core meets it."""

import subprocess
import sys
from pathlib import Path

import pluggy
import pytest
from pydantic import ValidationError

from asz_claude_code import plugin
from asz_claude_code.glossary import TERMS
from asz_claude_code.options import Options
from asz_hookspecs import CONTRACT, PROJECT, specs
from asz_hookspecs.vocabulary import GLOSSARY, RESERVED_STEPS

from .lines import MAIN, child_source, dump, user
from .tree import HOME, SESSION, Tree


@pytest.fixture
def manager() -> pluggy.PluginManager:
    """A plugin manager with this adapter alone."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    manager.register(plugin, "claude-code")
    manager.check_pending()
    return manager


def test_the_hooks_answer(manager: pluggy.PluginManager, tree: Tree) -> None:
    tree.write(f"{HOME}/{SESSION}.jsonl")
    (info,) = manager.hook.asz_adapter()
    assert (info.runtime, info.dialect) == ("Claude Code", "claude-code/1")
    options = Options(source_root=str(tree.root))
    (found,) = manager.hook.asz_discover(options=options, followed=lambda _: frozenset())
    assert [one.id for one in found.sessions] == [SESSION]
    (out,) = manager.hook.asz_convert(source=MAIN, records=[dump(user("hi"))], carry=b"")
    assert out.records[0].id == "u1"
    assert manager.hook.asz_glossary() == [TERMS]
    assert plugin.ASZ_CONTRACT == CONTRACT


def test_an_empty_window_keeps_the_carry() -> None:
    for carry in (b"", b"begun", b"opened"):
        assert plugin.asz_convert(child_source(), [], carry) == ([], carry)


def test_the_sample_is_beside_the_code() -> None:
    sample = plugin.asz_adapter().sample
    assert sample is not None
    assert Path(sample).is_absolute()
    assert Path(sample).parts[-3:] == ("asz_claude_code", "sample", "projects")


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys, asz_claude_code.plugin as p; p.asz_adapter();"
        "print(sorted({'pydantic', 'msgspec', 'orjson'} & set(sys.modules)))"
    )
    env = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_glossary_has_each_name_once_and_no_other() -> None:
    assert sorted(term.name for term in TERMS) == sorted(GLOSSARY)


def test_a_name_without_a_word_has_no_place() -> None:
    assert [term.name for term in TERMS if bool(term.native) != bool(term.where)] == []


def test_words_of_what_is_not_read_yet_are_told() -> None:
    notes = {term.name: (term.native, term.note) for term in TERMS}
    for name in (*RESERVED_STEPS, "cancels"):
        native, note = notes[name]
        assert native
        assert "does not read" in note


# ---------------------------------------------------------------- options


def test_options() -> None:
    assert Options().exclude == ["/private/tmp/**"]
    assert Options().source_roots == []
    assert Options(source_root="/a").source_roots == ["/a"]
    assert Options(source_root=["/a", "", "/b"]).source_roots == ["/a", "/b"]


@pytest.mark.parametrize("block", [{"sourceroot": "/a"}, {"include": "x"}, {"source_root": 7}])
def test_options_refuse(block: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Options.model_validate(block)
