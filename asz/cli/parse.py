"""``asz parse``."""

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation
from asz.cli.invocation import command as _command


@_command("parse")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--rebuild", is_flag=True, help="Set the rounds that exist aside and begin again.")
def command(invocation: Invocation, sessions: tuple[str, ...], rebuild: bool) -> int:
    """Assemble what landed and append rounds to the chain; all sessions when none is named.

    Needs neither the sources nor their adapters.
    """
    from asz.errors import AszError
    from asz.flow.parse import parse
    from asz.storage.root import Root

    settings = invocation.settings
    root = Root.open(settings.root, write=True)
    known = root.sessions()
    chosen = [resolve(session, known, "session") for session in sessions] or known
    for session in dict.fromkeys(chosen):
        try:
            done = parse(
                root, session, max_round_bytes=settings.parse.max_round_bytes, rebuild=rebuild
            )
        except AszError as error:
            invocation.error(error)
        else:
            if done.problem is not None:
                invocation.error(f"{done.problem}; what landed before it is parsed")
            click.echo(f"{session}: rounds={done.rounds_written} through={done.through_seq}")
    return invocation.status
