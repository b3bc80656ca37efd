"""The command ``asz``: finds the command asked for and turns what it raises into an exit status.

Commands are imported when they are asked for, and import what they work with when they run: help and
version must not wait for it.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from asz import __version__
from asz.cli.invocation import Invocation, common_options, prepare_streams, reader_left

WRONG: Final = 2
INTERRUPTED: Final = 130
"""Exit statuses that come from here; a command returns 0, or 1 when it left something it named."""

COMMANDS: Final = (
    "sources",
    "collect",
    "parse",
    "conversations",
    "conversation",
    "show",
    "index",
    "verify",
    "push",
    "metrics",
    "adapters",
    "glossary",
    "config",
    "version",
)
"""Each is ``asz.cli.<name>:command``."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"asz.cli.{cmd_name}").command
        return found


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@common_options
@click.version_option(__version__, message="asz %(version)s")
@click.pass_obj
def asz(invocation: Invocation, config: str | None, root: str | None, verbose: bool) -> None:
    """Keep what AI coding agents did: collect it, assemble it, prove it."""
    invocation.config, invocation.root, invocation.verbose = config, root, verbose


def main(args: Sequence[str] | None = None) -> int:
    """Run ``asz`` and return its exit status.

    :param args: the command line after the program's name; ``None``: this process's own.
    """
    prepare_streams()
    invocation = Invocation()
    try:
        status: Any = asz.main(
            args=None if args is None else list(args),
            prog_name="asz",
            standalone_mode=False,
            obj=invocation,
        )
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        return _misused(invocation, error)
    except BrokenPipeError:
        return reader_left()
    except Exception as error:
        invocation.unexpected(error)
        return invocation.status


def _misused(invocation: Invocation, error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return WRONG
    context = getattr(error, "ctx", None)
    hint = f" (see: {context.command_path} --help)" if context else ""
    invocation.say(f"error: {error.format_message()}{hint}")
    return WRONG
