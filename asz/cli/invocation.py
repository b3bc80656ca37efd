"""What every command is given: where its settings come from and how it reports."""

import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from asz.cli.text import printable
from asz.errors import AszError

if TYPE_CHECKING:
    from asz.config import Settings
    from asz.plugins import Adapters
    from asz.storage.root import Root

P = ParamSpec("P")

Command = Callable[Concatenate["Invocation", P], int]


@dataclass
class Invocation:
    """One run of a command."""

    config: str | None = None
    root: str | None = None
    verbose: bool = False
    status: int = 0
    """Exit status so far; reporting an error raises it."""

    @cached_property
    def settings(self) -> "Settings":
        """The effective configuration.

        :raises ConfigError: asz.yaml or the environment is wrong.
        """
        from asz.config import Overrides, load_settings, unread_file

        settings = load_settings(Overrides(self.config, self.root), os.environ)
        unread = unread_file(settings)
        if unread is not None:
            self.say(f"{unread} is not read; to use it: --config asz.yaml")
        return settings

    def adapters(self, only: Iterable[str] = ()) -> "Adapters":
        """Load the adapters this command may use, and report those that are broken.

        :param only: names given with ``--adapter``.
        """
        from asz.plugins import Selection, load_adapters

        adapters = load_adapters(Selection.of(self.settings, only, os.environ))
        for warning in adapters.warnings:
            self.say(f"warning: {warning}")
        for failure in adapters.failures:
            self.error(failure)
        return adapters

    def open_root(self, *, write: bool = False) -> "Root":
        """The storage root, which must be there already.

        :param write: whether the command changes what is in it.
        :raises RootError: there is none, or it cannot be used so.
        """
        from asz.storage.root import Root

        root = Root.open(self.settings.root, write=False)
        return Root.open(root.path, write=True) if write else root

    def run(self, command: Callable[[], int]) -> int:
        """What ``command`` returns; what it raises, reported, as an exit status. An interrupt passes."""
        try:
            return command()
        except (click.ClickException, click.exceptions.Exit):
            raise
        except AszError as error:
            self.error(error)
        except BrokenPipeError:
            return reader_left()
        except Exception as error:
            self.unexpected(error)
        return self.status

    def error(self, error: BaseException | str) -> None:
        """Report something that was left: one line, and with ``--verbose`` where it comes from."""
        self.status = max(self.status, getattr(error, "exit_code", 1))
        self.say(f"error: {error}")
        if isinstance(error, BaseException):
            self._trace(error)

    def left(self, session: str, error: Exception) -> None:
        """Report what kept one session from being worked on; the others go on."""
        if isinstance(error, AszError):
            self.error(error)
            return
        where = getattr(error, "filename", None) or "its state or index"
        self.error(f"{session}: {where}: {getattr(error, 'strerror', None) or error}")
        self._trace(error)

    def unexpected(self, error: Exception) -> None:
        """Report a defect of asz itself, or a file system that fails where nobody thought of it."""
        if isinstance(error, OSError) and error.strerror:
            where = f"{error.filename}: " if error.filename else ""
            message = f"{where}{error.strerror}"
        else:
            message = f"unexpected {type(error).__name__}: {error}"
        self.error(message if self.verbose else f"{message} (--verbose shows where)")
        self._trace(error)

    def _trace(self, error: BaseException) -> None:
        if self.verbose:
            trace = getattr(error, "details", "") or "".join(traceback.format_exception(error))
            for line in trace.splitlines():
                click.echo(printable(line), err=True)

    def say(self, message: str) -> None:
        """One line on standard error."""
        click.echo(f"asz: {printable(message)}", err=True)

    def note(self, message: str) -> None:
        """One line on standard error with ``--verbose``."""
        if self.verbose:
            self.say(message)


F = TypeVar("F", bound=Callable[..., Any])


def common_options(function: F) -> F:
    """The options every command has, and ``asz`` itself before the command's name."""
    options = (
        click.option("--config", metavar="FILE", help="Configuration file to read."),
        click.option("--root", metavar="DIR", help="Storage root to use."),
        click.option("-v", "--verbose", is_flag=True, help="Say more; show tracebacks of errors."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def command(name: str) -> Callable[[Command[P]], click.Command]:
    """A command with the options all commands have. They are accepted before its name as well; the one
    that stands later wins. The function returns the exit status."""

    def decorate(function: Command[P]) -> click.Command:
        def run(
            invocation: Invocation,
            /,
            config: str | None,
            root: str | None,
            verbose: bool,
            *args: P.args,
            **kwargs: P.kwargs,
        ) -> int:
            invocation.config = invocation.config if config is None else config
            invocation.root = invocation.root if root is None else root
            invocation.verbose = invocation.verbose or verbose
            return invocation.run(lambda: function(invocation, *args, **kwargs))

        update_wrapper(run, function)
        return click.command(name)(common_options(click.pass_obj(run)))

    return decorate


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

adapter_option = click.option(
    "--adapter", "only", multiple=True, metavar="NAME", help="Use this adapter only; repeatable."
)


def prepare_streams() -> None:
    """Let nothing a terminal's encoding lacks end a command, nor a stream that was closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for the whole run
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def reader_left() -> int:
    """Whoever read the output has gone (``| head``), which is no error. The interpreter flushes once more
    at its end, so standard output must lead somewhere.

    :returns: the exit status.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
