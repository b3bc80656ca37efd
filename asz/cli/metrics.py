"""``asz metrics``."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, table
from asz.errors import UsageError

if TYPE_CHECKING:
    from asz.assembly.model import Tokens
    from asz.metrics.totals import Total, Totals

_HEADER: Final = (
    "RUNTIME", "MODEL", "ROLE", "STATE", "CALLS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"
)  # fmt: skip
_DAY: Final = click.DateTime(["%Y-%m-%d"])


@_command("metrics")
@click.option("--from", "first", type=_DAY, metavar="DAY", help="First day, as 2026-09-01; UTC.")
@click.option("--to", "last", type=_DAY, metavar="DAY", help="Last day, counted too; UTC.")
@json_option
def command(
    invocation: Invocation, first: datetime | None, last: datetime | None, as_json: bool
) -> int:
    """Add up the tokens of provider calls, by model and role of the stream.

    From everything that landed, each call once, whether or not metrics are on. What unfinished calls
    reported stands beside it and is not counted.
    """
    from asz.metrics.totals import totals

    if first is not None and last is not None and first > last:
        raise UsageError(f"--from {_day(first)} is after --to {_day(last)}")
    end = None if last is None else _ns(last + timedelta(days=1))
    found = totals(
        invocation.open_root(), None if first is None else _ns(first), end, invocation.left
    )
    if as_json:
        click.echo(json_text({"from": _day(first), "to": _day(last), **_object(found)}))
        return invocation.status
    for line in table(_HEADER, _rows(found)):
        click.echo(line)
    _say(invocation, found)
    return invocation.status


def _rows(found: "Totals") -> Iterator[tuple[str, ...]]:
    from asz.metrics.totals import sum_of

    for state, rows in (("finished", found.finished), ("unfinished", found.unfinished)):
        for row in rows:
            yield (row.runtime, row.model or "", row.role, state, *_numbers(row.calls, row.tokens))
        if rows or state == "finished":
            yield ("all", "", "", state, *_numbers(*sum_of(rows)))


def _numbers(calls: int, tokens: "Tokens") -> tuple[str, ...]:
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
    return (str(calls), *map(str, counts))


def _object(found: "Totals") -> dict[str, Any]:
    return {
        "finished": _plain(found.finished),
        "unfinished": _plain(found.unfinished),
        "without_usage": found.without_usage,
        "without_time": found.without_time,
    }


def _plain(rows: "Iterable[Total]") -> list[dict[str, Any]]:
    import msgspec

    return [msgspec.to_builtins(row) for row in rows]


def _say(invocation: Invocation, found: "Totals") -> None:
    """What the table leaves out."""
    if found.without_usage:
        invocation.say(f"{found.without_usage} finished calls reported no usage")
    if found.without_time:
        invocation.say(f"{found.without_time} calls have no time, so they are of no day")


def _ns(day: datetime) -> int:
    return int(day.replace(tzinfo=UTC).timestamp()) * 1_000_000_000


def _day(day: datetime | None) -> str | None:
    return None if day is None else f"{day:%Y-%m-%d}"
