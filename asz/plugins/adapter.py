"""One loaded adapter with one block of options: a typed method for each hook."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Final

from asz.config.settings import AdapterEntry
from asz.errors import ConfigError
from asz.plugins.checks import (
    check_converted,
    check_discovery,
    check_points,
    check_raw,
    check_receiver,
    check_terms,
)
from asz.plugins.guard import Guard
from asz.plugins.installed import Installed
from asz_hookspecs import (
    AdapterInfo,
    Converted,
    Discovery,
    FinishedCall,
    Followed,
    MetricPoint,
    RawRecord,
    Sink,
    Source,
    Term,
)

_END: Final = object()


@dataclass(frozen=True)
class Adapter:
    """Calls the hooks of one adapter and of no other.

    Every method raises ``AdapterFailure`` and nothing else, whatever the adapter does; what it returns
    was consumed and checked. What the hooks call ``options`` is ``Adapter.options``.
    """

    installed: Installed
    entry: AdapterEntry
    info: AdapterInfo
    hooks: Mapping[str, Callable[..., Any]]
    """For each hook a caller that reaches this adapter alone."""

    @property
    def name(self) -> str:
        """Entry point name."""
        return self.installed.name

    @property
    def label(self) -> str:
        """Label of its entry in asz.yaml; empty for the only one."""
        return self.entry.label

    @property
    def title(self) -> str:
        """Name and label as one word for a person."""
        return self.entry.title

    @cached_property
    def guard(self) -> Guard:
        """What every call runs in."""
        return Guard(self.title, self.installed.distribution, self.installed.version)

    @cached_property
    def options(self) -> Any:
        """The validated options model, ``None`` when the adapter declares none.

        :raises ConfigError: the entry in asz.yaml does not fit the model.
        :raises AdapterFailure: the model itself cannot be had.
        """
        where, given = self.info.options, dict(self.entry.options)
        if where is None:
            if given:
                key = next(iter(given))
                raise ConfigError(f"{self.entry.origin(key)}: {key}: {self.name} takes no options")
            return None
        options = self.guard.run("options", lambda: _validated(where, given, self.entry))
        if isinstance(options, ConfigError):
            raise options
        return options

    @property
    def metrics(self) -> bool:
        """Whether this entry's metrics are on."""
        if self.info.meters is None:
            return False
        stated = self.entry.metrics
        return self.info.metrics_default if stated is None else stated

    @property
    def derives(self) -> bool:
        """Whether metrics are made of what it collects; those a receiver is sent are made already."""
        return self.metrics and "asz_derive_metrics" in self.hooks

    @property
    def receives(self) -> bool:
        """Whether it serves peers that push."""
        return "asz_receive" in self.hooks

    def discover(self, options: Any, followed: Followed) -> Discovery:
        """Sessions and sources; what has a name the core refuses is left out and is a problem."""
        if "asz_discover" not in self.hooks:
            return Discovery((), complete=False)  # what was pushed is never judged gone
        return self.guard.run(
            "asz_discover",
            lambda: check_discovery(
                self._one("asz_discover", options=options, followed=followed), self.title
            ),
        )

    def land(self, options: Any, source: Source, position: bytes) -> Iterator[RawRecord]:
        """New records of a custom source, one by one.

        What was yielded before a failure is good; ``AdapterFailure.source_only`` says whether only this
        source is lost.
        """
        records = self.guard.run(
            "asz_land",
            lambda: iter(self._one("asz_land", options=options, source=source, position=position)),
        )
        while (record := self.guard.run("asz_land", lambda: _next(records))) is not None:
            yield record

    def convert(self, source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
        """A window of raw records as Session Data: as many records, same order."""
        return self.guard.run(
            "asz_convert",
            lambda: check_converted(
                self._one("asz_convert", source=source, records=records, carry=carry), len(records)
            ),
        )

    def derive_metrics(
        self, options: Any, calls: Sequence[FinishedCall]
    ) -> tuple[MetricPoint, ...]:
        """Metric points of finished calls."""
        return self.guard.run(
            "asz_derive_metrics",
            lambda: check_points(self._one("asz_derive_metrics", options=options, calls=calls)),
        )

    def receive(self, options: Any, sink: Sink) -> AbstractAsyncContextManager[None]:
        """A receiver, not yet serving. Entering and leaving it is guarded as well."""
        receiver = self.guard.run(
            "asz_receive",
            lambda: check_receiver(self._one("asz_receive", options=options, sink=sink)),
        )
        return self.guard.entered("asz_receive", receiver)

    def glossary(self) -> tuple[Term, ...]:
        """What the runtime calls the names of the model."""
        return self.guard.run("asz_glossary", lambda: check_terms(self._one("asz_glossary")))

    def _one(self, hook: str, **arguments: Any) -> Any:
        """The one result of a hook. pluggy collects results in a list and leaves ``None`` out."""
        caller = self.hooks.get(hook)
        if caller is None:
            raise TypeError(f"the adapter has no {hook}")
        results = caller(**arguments)
        if len(results) != 1:
            raise TypeError("returned nothing")
        return results[0]


def _next(records: Iterator[Any]) -> RawRecord | None:
    record = next(records, _END)
    return None if record is _END else check_raw(record)


def _validated(where: str, given: dict[str, Any], entry: AdapterEntry) -> Any:
    """The options, or the error to raise outside of the guard: the adapter is not to blame for it."""
    module, _, name = where.partition(":")
    model = getattr(import_module(module), name)
    from pydantic import ValidationError

    from asz.config.complaints import complaint

    try:
        return model.model_validate(given)
    except ValidationError as error:
        return complaint(model, error, entry.file, entry.lines, f"{entry.title}.")
