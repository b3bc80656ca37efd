"""``asz version``."""

import click

from asz import __version__
from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text


@_command("version")
@json_option
def command(invocation: Invocation, as_json: bool) -> int:
    """Print the version."""
    if as_json:
        click.echo(json_text({"asz": __version__}))
    else:
        click.echo(f"asz {__version__}")
    return invocation.status
