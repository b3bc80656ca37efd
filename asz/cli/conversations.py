"""``asz conversations``."""

from typing import TYPE_CHECKING, Final

import click

from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, table

if TYPE_CHECKING:
    from asz.assembly.model import Tokens
    from asz.flow.listing import ConversationRow

_HEADER: Final = ("ID", "TITLE", "SPAN", "TALKS", "STEPS", "TOKENS IN/OUT", "OPEN", "STATE")
_LONGEST_TITLE: Final = 48


@_command("conversations")
@json_option
def command(invocation: Invocation, as_json: bool) -> int:
    """List the conversations of the storage root, the one that was active last first."""
    import msgspec

    from asz.flow.listing import conversations

    rows = conversations(invocation.open_root())
    if as_json:
        click.echo(json_text(msgspec.to_builtins(rows)))
    else:
        for line in table(_HEADER, map(_cells, rows)):
            click.echo(line)
    for row in rows:
        if row.state == "broken":
            invocation.error(
                f"conversation {row.id}: its chain is broken; asz verify {row.id} says where, "
                f"asz parse --rebuild {row.id} begins a new one"
            )
    return invocation.status


def _cells(row: "ConversationRow") -> tuple[str, ...]:
    title = row.title or ""
    if len(title) > _LONGEST_TITLE:
        title = title[: _LONGEST_TITLE - 1] + "…"
    numbers = (str(row.talks), str(row.steps), _tokens(row.tokens), str(row.unresolved))
    return (row.id, title, _span(row.from_time, row.through_time), *numbers, row.state)


def _span(first: str | None, last: str | None) -> str:
    """``2026-09-01 12:56 - 14:10``, with a second date only when it is another day."""
    if first is None or last is None:
        return ""
    begin, end = (f"{time[:10]} {time[11:16]}" for time in (first, last))
    return f"{begin} - {end[11:] if begin[:10] == end[:10] else end}"


def _tokens(tokens: "Tokens | None") -> str:
    if tokens is None:
        return ""
    read = tokens.input + tokens.cache_read + tokens.cache_write
    return f"{_short(read)}/{_short(tokens.output)}"


def _short(number: int) -> str:
    """Three digits and a unit: ``999``, ``1.2k``, ``34M``."""
    size = float(number)
    for unit in ("", "k", "M", "G"):
        if size < 999.5 or unit == "G":
            return f"{size:.1f}{unit}" if unit and size < 10 else f"{size:.0f}{unit}"
        size /= 1000
    raise AssertionError("the last unit takes every number")
