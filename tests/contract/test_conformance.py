"""The shipped suite accepts a good adapter and finds what is wrong with a bad one."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from asz.errors import AdapterFailure
from asz.testing import conformance
from asz_hookspecs import Converted, Discovery, Part, Record, Term, hookimpl

WORKING = Path(__file__).parent.parent / "plugins" / "working"
sys.path.append(str(WORKING))

import asz_test_working  # noqa: E402 - found through the line above

TestWorking = conformance(asz_test_working, sample=WORKING / "sample")


def changed(**names: Any) -> ModuleType:
    """The working adapter with some of its names replaced."""
    module = ModuleType("changed")
    vars(module).update({**vars(asz_test_working), "__name__": "changed", **names})
    return module


def convert(function: Callable[..., Converted]) -> ModuleType:
    return changed(asz_convert=hookimpl(specname="asz_convert")(function))


def forgets_one(records: list[bytes]) -> Converted:
    return Converted(asz_test_working.asz_convert(records).records[1:])


def counts_its_calls(records: list[bytes]) -> Converted:
    made = asz_test_working.asz_convert(records).records
    made[0].label = str(len(records))
    return Converted(made)


def raises_on_hostile(records: list[bytes]) -> Converted:
    made = asz_test_working.asz_convert(records)
    for raw in records:
        raw.decode()
    return made


def invents_bytes(records: list[bytes]) -> Converted:
    return Converted([Record(parts=[Part("data", data=b'"other"', size=7)]) for _ in records])


def loses_bytes(records: list[bytes]) -> Converted:
    made = asz_test_working.asz_convert(records).records
    for record in made:
        if record.damaged is not None:
            record.parts[0].raw = b""
    return Converted(made)


def writes_beside_its_sources(options: Any) -> Discovery:
    (Path(options.source_root) / "seen").touch()
    return asz_test_working.asz_discover(options)  # type: ignore[no-any-return]


seen: list[int] = []


def remembers(options: Any) -> Discovery:
    seen.append(1)
    found: Discovery = asz_test_working.asz_discover(options)
    return Discovery(found.sessions, notes=tuple("x" for _ in seen))


def knows_half_the_words() -> list[Term]:
    return list(asz_test_working.asz_glossary())[::2]


def with_a_default(records: list[bytes], carry: bytes = b"") -> Converted:
    return asz_test_working.asz_convert(records)  # type: ignore[no-any-return]


FAULTS = [
    (convert(forgets_one), "test_conversion_is_repeatable"),
    (convert(counts_its_calls), "test_conversion_does_not_depend_on_how_windows_are_cut"),
    (convert(raises_on_hostile), "test_hostile_input_becomes_records"),
    (convert(loses_bytes), "test_hostile_input_becomes_records"),
    (convert(loses_bytes), "test_twisted_records_become_records"),
    (convert(invents_bytes), "test_source_bytes_are_kept"),
    (convert(with_a_default), "test_hooks_take_what_the_contract_gives"),
    (
        changed(asz_discover=hookimpl(specname="asz_discover")(writes_beside_its_sources)),
        "test_nothing_is_written_where_the_sources_are",
    ),
    (
        changed(asz_discover=hookimpl(specname="asz_discover")(remembers)),
        "test_discovery_is_repeatable",
    ),
    (
        changed(asz_glossary=hookimpl(specname="asz_glossary")(knows_half_the_words)),
        "test_the_glossary_is_complete",
    ),
]


@pytest.mark.parametrize(("module", "test"), FAULTS, ids=lambda value: str(value)[:60])
def test_a_fault_is_found(module: ModuleType, test: str, tmp_path: Path) -> None:
    suite: Any = conformance(module, sample=WORKING / "sample")()
    subject = suite.subject
    sample = subject.copy_sample(tmp_path)
    adapter = subject.load(sample)
    found = adapter.discover(adapter.options, lambda _session: frozenset())
    values = {"sample": sample, "adapter": adapter, "found": found, "tmp_path": tmp_path}
    method = getattr(suite, test)
    names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
    if "collected" in names:
        from asz.testing.landed import collect

        values["collected"] = collect(adapter, tmp_path / "root")[0]
    with pytest.raises((AssertionError, AdapterFailure)):
        method(**{name: values[name] for name in names})
