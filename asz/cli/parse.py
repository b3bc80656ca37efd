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
    from asz.storage.root import Root


@_command("parse")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--rebuild", is_flag=True, help="Set the rounds that exist aside and begin again.")
@json_option
def command(invocation: Invocation, sessions: tuple[str, ...], rebuild: bool, as_json: bool) -> int:
    """Assemble what landed and append rounds to the chain; all sessions when none is named.

    Needs neither the sources nor their adapters.
    """
    root = invocation.open_root(write=True)
    known = root.sessions()
    chosen = [resolve(session, known, "session") for session in sessions] or known
    done = _parse(invocation, root, list(dict.fromkeys(chosen)), rebuild)
    if as_json:
        click.echo(json_text([asdict(parsed) for parsed in done]))
    else:
        for parsed in done:
            click.echo(
                f"{parsed.session}: rounds={parsed.rounds_written} through={parsed.through_seq}"
            )
    return invocation.status


def _parse(
    invocation: Invocation, root: "Root", sessions: list[str], rebuild: bool
) -> "list[Parsed]":
    from asz.flow.many import Job, parse_many

    job = Job(root, invocation.settings.parse.max_round_bytes, rebuild)
    done = []
    for session, outcome in parse_many(job, sessions):
        if isinstance(outcome, Exception):
            invocation.left(session, outcome)
            continue
        if outcome.problem is not None:
            invocation.error(f"{outcome.problem}; what landed before it is parsed")
        if outcome.renewed:
            invocation.note(f"{session}: older rules had assembled it; begun again")
        done.append(outcome)
    return done
