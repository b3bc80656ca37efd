"""Loads adapters one by one, each in its own guard: a broken one is a row of the listing, not an exit."""

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import pluggy

from asz.config.settings import AdapterEntry
from asz.errors import AdapterFailure, ConfigError, UsageError
from asz.plugins.adapter import Adapter
from asz.plugins.checks import check_info
from asz.plugins.guard import Guard, RefusedError
from asz.plugins.installed import Installed, installed_adapters, refuse_taken_names
from asz.plugins.metering import check_metering
from asz.plugins.selection import BLOCK_VARIABLE, Selection
from asz_hookspecs import CONTRACT, PROJECT, AdapterInfo, specs

_REQUIRED: Final = ("asz_adapter", "asz_glossary")


class State(StrEnum):
    """What became of an adapter."""

    OK = "ok"
    DISABLED = "disabled"
    """Somebody said no; it was not imported."""
    OFF = "off"
    """Off unless asz.yaml enables it; it got no call but ``asz_adapter``."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class AdapterStatus:
    """One row of ``asz adapters``."""

    installed: Installed
    entry: AdapterEntry
    state: State
    reason: str = ""
    """Who disabled it, or what is broken."""
    info: AdapterInfo | None = None
    """``None`` when it was not imported or could not say who it is."""
    failure: AdapterFailure | None = None


@dataclass(frozen=True, slots=True)
class Adapters:
    """Every installed adapter and what became of it."""

    active: tuple[Adapter, ...]
    """Those to call: one for each entry of asz.yaml that is in state ``ok``."""
    statuses: tuple[AdapterStatus, ...]
    warnings: tuple[str, ...] = ()
    """Names that match nothing."""
    selection: Selection = field(default_factory=Selection)
    """What was asked for; ``load_adapters(selection)`` in another process gives the same again."""

    @property
    def failures(self) -> list[AdapterFailure]:
        """One for each broken adapter."""
        found = [status.failure for status in self.statuses if status.failure is not None]
        return list(dict.fromkeys(found))

    def get(self, name: str, label: str = "") -> Adapter:
        """One active adapter.

        :raises KeyError: there is none of that name and label.
        """
        for adapter in self.active:
            if (adapter.name, adapter.label) == (name, label):
                return adapter
        raise KeyError((name, label))


def load_adapters(
    selection: Selection, installed: Sequence[Installed] | None = None, *, validate: bool = True
) -> Adapters:
    """Load what ``selection`` asks for; everything else is listed and not imported.

    :param installed: what there is to choose from; ``None``: every installed adapter.
    :param validate: check every entry's options now. A worker process leaves it to the first hook that
        needs them.
    :raises UsageError: ``--adapter`` names something that is not installed or may not run.
    :raises ConfigError: asz.yaml lists an adapter that is not installed, an entry does not fit its
        adapter's options model, or metrics are on where they cannot be.
    """
    items = installed_adapters() if installed is None else list(installed)
    _check_known(selection, items)
    loader = _Loader(selection)
    for item in _marked(selection, items):
        loader.import_one(item)
    loader.introduce()
    adapters = loader.finish(validate, _unmatched(selection, items))
    _check_runnable(adapters)
    check_metering(_metering(adapters, items) if validate else adapters.active)
    return adapters


@dataclass(slots=True)
class _Loaded:
    installed: Installed
    entries: list[AdapterEntry]
    plugin: Any
    hooks: dict[str, Callable[..., Any]] = field(default_factory=dict)
    info: AdapterInfo | None = None

    @property
    def guard(self) -> Guard:
        return _guard(self.installed)

    def introduce(self) -> AdapterInfo:
        results = self.hooks["asz_adapter"]()
        return check_info(results[0] if results else None)


class _Loader:
    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(specs)
        self._loaded: list[_Loaded] = []
        self._statuses: list[AdapterStatus] = []

    def import_one(self, item: Installed) -> None:
        """Import and register one adapter, unless somebody said no or it is broken."""
        wanted = []
        for entry in self._selection.entries_of(item.name):
            reason = _disabled(self._selection, item, entry)
            if reason:
                self._statuses.append(AdapterStatus(item, entry, State.DISABLED, reason))
            else:
                wanted.append(entry)
        if not wanted:
            return
        try:
            plugin = self._register(item)
        except AdapterFailure as failure:
            self._break(item, wanted, failure)
        else:
            self._loaded.append(_Loaded(item, wanted, plugin))

    def _register(self, item: Installed) -> Any:
        guard = _guard(item)
        if item.refused:
            raise guard.failure("name", RefusedError(item.refused))
        plugin = guard.run("import", item.entry_point.load)
        guard.run("contract", lambda: _check_contract(plugin))
        try:
            guard.run("register", lambda: self._manager.register(plugin, item.name))
            guard.run("register", lambda: self._check_hooks(plugin))
        except AdapterFailure:
            self._drop(plugin)
            raise
        return plugin

    def _check_hooks(self, plugin: Any) -> None:
        self._manager.check_pending()
        callers = self._manager.get_hookcallers(plugin) or ()
        names = {caller.name for caller in callers}
        required = {*_REQUIRED, *(("asz_convert",) if "asz_discover" in names else ())}
        lacking = sorted(required - names)
        if lacking:
            raise RefusedError(f"lacks {', '.join(lacking)}")

    def introduce(self) -> None:
        """Ask every registered adapter who it is. Its callers are made now, when all are registered: a
        subset caller leaves out the plugins it was told of and no later one."""
        for loaded in list(self._loaded):
            others = [one.plugin for one in self._loaded if one is not loaded]
            callers = self._manager.get_hookcallers(loaded.plugin) or ()
            loaded.hooks = {
                caller.name: self._manager.subset_hook_caller(caller.name, others)
                for caller in callers
            }
        for loaded in list(self._loaded):
            try:
                loaded.info = loaded.guard.run("asz_adapter", loaded.introduce)
            except AdapterFailure as failure:
                self._remove(loaded)
                self._break(loaded.installed, loaded.entries, failure)

    def finish(self, validate: bool, warnings: Iterable[str]) -> Adapters:
        """Settle each entry of each adapter that is left."""
        active: list[Adapter] = []
        for loaded in list(self._loaded):
            before = len(active)
            for entry in loaded.entries:
                active += self._settle(loaded, entry, validate)
            if len(active) == before:
                self._remove(loaded)
        statuses = sorted(self._statuses, key=_row)
        return Adapters(tuple(active), tuple(statuses), tuple(warnings), self._selection)

    def _settle(self, loaded: _Loaded, entry: AdapterEntry, validate: bool) -> list[Adapter]:
        info = loaded.info
        assert info is not None
        if entry.enabled is None and not info.default_enabled:
            reason = "off by default; enable it in asz.yaml"
            self._statuses.append(AdapterStatus(loaded.installed, entry, State.OFF, reason, info))
            return []
        adapter = Adapter(loaded.installed, entry, info, loaded.hooks)
        if validate:
            try:
                _ = adapter.options
            except AdapterFailure as failure:
                self._break(loaded.installed, [entry], failure, info)
                return []
        self._statuses.append(AdapterStatus(loaded.installed, entry, State.OK, "", info))
        return [adapter]

    def _break(
        self,
        item: Installed,
        entries: Iterable[AdapterEntry],
        failure: AdapterFailure,
        info: AdapterInfo | None = None,
    ) -> None:
        reason = f"{failure.hook}: {failure.reason}"
        self._statuses += [
            AdapterStatus(item, entry, State.BROKEN, reason, info, failure) for entry in entries
        ]

    def _remove(self, loaded: _Loaded) -> None:
        self._loaded.remove(loaded)
        self._drop(loaded.plugin)

    def _drop(self, plugin: Any) -> None:
        with contextlib.suppress(Exception):
            if self._manager.is_registered(plugin):
                self._manager.unregister(plugin)


def _guard(item: Installed) -> Guard:
    return Guard(item.name, item.distribution, item.version)


def _check_contract(plugin: Any) -> None:
    hash(
        plugin
    )  # pluggy keeps plugins in sets: one that cannot be in one would break all the others
    stated = getattr(plugin, "ASZ_CONTRACT", None)
    if stated is None:
        raise RefusedError(f"states no ASZ_CONTRACT; this asz has {CONTRACT}")
    if stated != CONTRACT or isinstance(stated, bool):
        raise RefusedError(
            f"built for contract {stated!r}, this asz has {CONTRACT}; install a matching version"
        )


def _marked(selection: Selection, items: list[Installed]) -> list[Installed]:
    """``items``, those with a taken name marked. A blocked adapter claims no name."""
    free = refuse_taken_names([item for item in items if not _is_blocked(selection, item)])
    return [*free, *(item for item in items if _is_blocked(selection, item))]


def _disabled(selection: Selection, item: Installed, entry: AdapterEntry) -> str:
    """Who said no; empty when nobody did."""
    if _is_blocked(selection, item):
        return BLOCK_VARIABLE
    if entry.enabled is False:
        return f"enabled: false ({entry.origin('enabled')})"
    if selection.only and item.name not in selection.only:
        return "not named by --adapter"
    return ""


def _is_blocked(selection: Selection, item: Installed) -> bool:
    blocked = {_normal(name) for name in selection.blocked}
    return item.name in selection.blocked or _normal(item.distribution) in blocked


def _normal(distribution: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _metering(adapters: Adapters, items: list[Installed]) -> tuple[Adapter, ...]:
    """The adapters whose metrics must not count the same: also those asz.yaml lists and ``--adapter`` leaves
    out, since one command after the other would send the same count as surely as one command."""
    selection = adapters.selection
    if not selection.only or not any(adapter.metrics for adapter in adapters.active):
        return adapters.active
    listed = {entry.name for entry in selection.entries}
    loader = _Loader(replace(selection, only=frozenset()))
    for item in _marked(selection, [item for item in items if item.name in listed]):
        loader.import_one(item)
    loader.introduce()
    return loader.finish(False, ()).active


def _unmatched(selection: Selection, items: list[Installed]) -> list[str]:
    known = {item.name for item in items} | {_normal(item.distribution) for item in items}
    return [
        f"{BLOCK_VARIABLE}: no adapter or distribution is called {name!r}"
        for name in sorted(selection.blocked)
        if name not in known and _normal(name) not in known
    ]


def _check_known(selection: Selection, items: list[Installed]) -> None:
    names = {item.name for item in items}
    installed = ", ".join(sorted(names)) or "none"
    for entry in selection.entries:
        if entry.file is not None and entry.name not in names:
            raise ConfigError(
                f"{entry.origin('name')}: adapters: expected an installed adapter ({installed}), "
                f"found {entry.name!r}"
            )
    for name in sorted(selection.only - names):
        raise UsageError(f"--adapter {name}: no such adapter is installed (installed: {installed})")


def _check_runnable(adapters: Adapters) -> None:
    """An adapter a person asked for by name must run, or the reason must be seen. A broken one is
    reported by whoever reads ``failures``."""
    for name in sorted(adapters.selection.only):
        rows = [row for row in adapters.statuses if row.installed.name == name]
        if all(row.state in (State.DISABLED, State.OFF) for row in rows):
            raise UsageError(f"--adapter {name}: {rows[0].state}: {rows[0].reason}")


def _row(status: AdapterStatus) -> tuple[str, str, str]:
    return (status.installed.name, status.installed.distribution, status.entry.label)
