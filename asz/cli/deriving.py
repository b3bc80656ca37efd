"""Metrics as the last stage of a pass: the adapters whose metrics are on, and how errors are reported."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asz.collect.passes import Stage
    from asz.collect.work import Report
    from asz.metrics.derive import Deriver
    from asz.plugins import Adapters
    from asz.storage.root import Root


def deriving(root: "Root", adapters: "Adapters", *, watching: bool) -> "Iterator[Stage]":
    """The stage that derives metrics; none when no adapter's metrics are on."""
    active = [adapter for adapter in adapters.active if adapter.derives]
    if not active:
        return
    from asz.metrics.derive import Deriver, Meter
    from asz.metrics.waiting import Patience

    meters = [
        Meter(
            adapter.info.runtime,
            adapter.info.service_name or adapter.info.runtime,
            adapter.entry.metrics_lookback,
            partial(adapter.derive_metrics, adapter.options),
        )
        for adapter in active
    ]
    yield _Deriving(Deriver(root, meters, partial(_sent, root), Patience() if watching else None))


def _sent(root: "Root") -> "Collection[str]":
    from asz.export.state import sent_metrics

    return sent_metrics(root)


@dataclass(frozen=True, slots=True)
class _Deriving:
    deriver: "Deriver"

    def run(self, report: "Report") -> None:
        counts = report.counts
        done = self.deriver.run(whole=not (counts.pending or counts.busy or counts.errors))
        for line in done.errors:
            report.error(line)
        if done.busy is not None:
            counts.busy += 1
            report.problems.append(done.busy)
        if done.calls:
            report.notes.append(
                f"metrics: calls={done.calls} points={done.points} requests={done.requests}"
            )
