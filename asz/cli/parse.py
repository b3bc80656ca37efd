"""``asz parse``."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text

if TYPE_CHECKING:
    from asz.flow.parse import Parsed


@_command("parse")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--rebuild", is_flag=True, help="Set the rounds that exist aside and begin again.")
@json_option
def command(invocation: Invocation, sessions: tuple[str, ...], rebuild: bool, as_json: bool) -> int:
    """Assemble what landed and append rounds to the chain; all sessions when none is named.

    Needs neither the sources nor their adapters.
    """
    known = invocation.open_root().sessions()
    chosen = [resolve(session, known, "session") for session in sessions] or known
    done = _parse(invocation, list(dict.fromkeys(chosen)), rebuild)
    if as_json:
        click.echo(json_text([asdict(parsed) for parsed in done]))
    else:
        for parsed in done:
            click.echo(
                f"{parsed.session}: rounds={parsed.rounds_written} through={parsed.through_seq}"
            )
    return invocation.status


def _parse(invocation: Invocation, sessions: list[str], rebuild: bool) -> "list[Parsed]":
    from asz.errors import AszError
    from asz.flow.parse import parse
    from asz.storage.root import Root

    settings = invocation.settings
    root = Root.open(settings.root, write=True)
    done = []
    for session in sessions:
        try:
            parsed = parse(
                root, session, max_round_bytes=settings.parse.max_round_bytes, rebuild=rebuild
            )
        except AszError as error:
            invocation.error(error)
            continue
        if parsed.problem is not None:
            invocation.error(f"{parsed.problem}; what landed before it is parsed")
        done.append(parsed)
    return done
