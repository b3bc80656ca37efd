"""What is tested: an adapter and a sample of its runtime's files, set up afresh for each test."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from asz.config.settings import AdapterEntry
from asz.plugins import Adapter, Installed, Selection, installed_adapters, load_adapters

if TYPE_CHECKING:
    from asz.testing.suite import Conformance

Options = Callable[[Path], Mapping[str, Any]]


def _source_root(sample: Path) -> Mapping[str, Any]:
    return {"source_root": str(sample)}


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter under test."""

    adapter: str | ModuleType
    """Entry point name of an installed adapter, or the plugin module itself."""
    sample: Path
    """Directory of the runtime's files."""
    options: Options = _source_root
    """The entry's options that make the adapter read a copy of the sample."""

    def copy_sample(self, place: Path) -> Path:
        """A copy of the sample below ``place``, which a test may change."""
        return Path(shutil.copytree(self.sample, place / "sample", symlinks=True))

    def load(self, sample: Path) -> Adapter:
        """The adapter, reading ``sample``.

        :raises AdapterFailure: it cannot be loaded.
        """
        (item,) = self._installed()
        entry = AdapterEntry(item.name, enabled=True, options=dict(self.options(sample)))
        adapters = load_adapters(Selection((entry,)), [item])
        for failure in adapters.failures:
            raise failure
        return adapters.get(item.name)

    def plugin(self) -> Any:
        """What the entry point names."""
        (item,) = self._installed()
        return item.entry_point.load()

    def _installed(self) -> list[Installed]:
        if isinstance(self.adapter, str):
            return [item for item in installed_adapters() if item.name == self.adapter][:1]
        module = self.adapter
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        return [Installed(name, "under test", "0", SimpleNamespace(load=lambda: module))]


def conformance(
    adapter: str | ModuleType, sample: Path, options: Options = _source_root
) -> "type[Conformance]":
    """A pytest class that proves ``adapter``. Give it a name that begins with ``Test``.

    :param adapter: entry point name of an installed adapter, or the plugin module itself.
    :param sample: directory of the runtime's files; it is copied, never written.
    :param options: gives the options that make the adapter read a copy of the sample at a path; the
        option ``source_root`` when not given.
    """
    from asz.testing.suite import Conformance

    return type("Conformance", (Conformance,), {"subject": Subject(adapter, sample, options)})
