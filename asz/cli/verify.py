"""``asz verify``."""

from dataclasses import asdict

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text


@_command("verify")
@click.argument("session", required=False)
@json_option
def command(invocation: Invocation, session: str | None, as_json: bool) -> int:
    """Check every digest, every chain and every gap, of all sessions or of one; nothing is written.

    Each problem is one line on standard error.
    """
    from asz.verify import Tally, verify

    root = invocation.open_root()
    known = {*root.sessions(), *root.conversations()}
    chosen = None if session is None else resolve(session, known, "session")
    tally = Tally()
    problems = []
    for problem in verify(root, chosen, tally):
        invocation.error(str(problem))
        problems.append(problem)
    if as_json:
        shown = {**asdict(tally), "problems": [asdict(problem) for problem in problems]}
        click.echo(json_text(shown))
    else:
        counts = " ".join(f"{name}={count}" for name, count in asdict(tally).items())
        click.echo(f"{counts} problems={len(problems)}")
    return invocation.status
