"""``asz verify``."""

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation
from asz.cli.invocation import command as _command


@_command("verify")
@click.argument("session", required=False)
def command(invocation: Invocation, session: str | None) -> int:
    """Check every digest, every chain and every gap, of all sessions or of one; nothing is written.

    Each problem is one line on standard error.
    """
    from asz.verify import verify

    root = invocation.open_root()
    known = sorted({*root.sessions(), *root.conversations()})
    chosen = None if session is None else resolve(session, known, "session")
    problems = 0
    for problem in verify(root, chosen):
        invocation.error(str(problem))
        problems += 1
    checked = len(known) if chosen is None else 1
    click.echo(f"sessions={checked} problems={problems}")
    return invocation.status
