"""Token totals over everything that landed, each call counted once, whoever derives or receives metrics."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from asz.assembly.model import Tokens
from asz.metrics.calls import ReportedCall, calls_of, runtime_of
from asz.storage import index
from asz.storage.root import Root
from asz.storage.rows import UsageRow

_NOTHING: Final = UsageRow(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Total:
    """Calls of one model in streams of one role, and their tokens."""

    runtime: str
    model: str | None
    role: str
    """``main``, ``child`` or ``auxiliary``."""
    calls: int
    tokens: Tokens


@dataclass(slots=True)
class Totals:
    """What a root holds of some days."""

    finished: list[Total] = field(default_factory=list)
    """What counts: calls that said why they stopped, by their last fragment."""
    unfinished: list[Total] = field(default_factory=list)
    """What calls reported that were cut short: partial counts, which nothing else adds up."""
    without_usage: int = 0
    """Finished calls that reported no usage."""
    without_time: int = 0
    """Calls left out because no day can be told for them; only when days were asked for."""


def totals(
    root: Root,
    first: int | None,
    end: int | None,
    left: Callable[[str, Exception], None],
) -> Totals:
    """Add up the calls of a root.

    :param first: earliest time, nanoseconds since the epoch; ``None``: from the beginning.
    :param end: time the calls are before; ``None``: to the end.
    :param left: told of each session that cannot be read; the others go on.
    """
    out = Totals()
    sums: dict[bool, _Sums] = {True: {}, False: {}}
    for (runtime, _id), call in _each(root, left).items():
        if first is not None or end is not None:
            if call.time is None:
                out.without_time += 1
                continue
            if (first is not None and call.time < first) or (end is not None and call.time >= end):
                continue
        if call.finished and call.usage is None:
            out.without_usage += 1
            continue
        key = (runtime, call.model, call.role)
        counts = sums[call.finished].setdefault(key, [0, 0, 0, 0, 0])
        for place, count in enumerate((1, *(call.usage or _NOTHING))):
            counts[place] += count
    out.finished, out.unfinished = _rows(sums[True]), _rows(sums[False])
    return out


def sum_of(rows: Iterable[Total]) -> tuple[int, Tokens]:
    """Calls and tokens of several rows together."""
    counts = [0, 0, 0, 0, 0]
    for row in rows:
        tokens = row.tokens
        for place, count in enumerate(
            (row.calls, tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
        ):
            counts[place] += count
    return counts[0], Tokens(*counts[1:])


_Sums = dict[tuple[str, str | None, str], list[int]]


def _rows(sums: _Sums) -> list[Total]:
    rows = [Total(*key, calls, Tokens(*counts)) for key, (calls, *counts) in sums.items()]
    return sorted(
        rows, key=lambda row: (row.runtime, row.model or "", row.role != "main", row.role)
    )


def _each(
    root: Root, left: Callable[[str, Exception], None]
) -> dict[tuple[str, str], ReportedCall]:
    """Every call by runtime and id. Of several sessions that have it the first counts in which it
    finished."""
    found: dict[tuple[str, str], ReportedCall] = {}
    for session in root.sessions():
        try:
            rows = index.load(root.session_dir(session))
        except Exception as error:
            left(session, error)
            continue
        runtime = runtime_of(rows)
        if runtime is None:
            continue
        for call in calls_of(rows):
            known = found.setdefault((runtime, call.id), call)
            if call.finished and not known.finished:
                found[runtime, call.id] = call
    return found
