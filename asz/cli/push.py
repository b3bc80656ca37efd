"""``asz push``: what was collected, to a receiver that speaks OTLP."""

import signal
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.errors import ConfigError

if TYPE_CHECKING:
    from asz.export.counting import Pass
    from asz.export.endpoint import Receiver
    from asz.export.push import Pusher
    from asz.plugins import Adapters
    from asz.storage.root import Root


@_command("push")
@click.option("--once", is_flag=True, help="Make one pass and end.")
@click.option("--retry-refused", is_flag=True, help="Send what the receiver refused before again.")
@click.option(
    "--prune",
    is_flag=True,
    help="Remove what of the metrics spool the receiver took; alone, send nothing.",
)
@json_option
def command(
    invocation: Invocation, once: bool, retry_refused: bool, prune: bool, as_json: bool
) -> int:
    """Send landed files, rounds and metrics to the OTLP receiver that export.otlp names.

    Watches until interrupted, a pass every collector.interval; --once makes one pass and ends.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    root = invocation.open_root(write=True)
    pusher = make_pusher(invocation, root)
    if prune and not once:
        return _prune(invocation, root, pusher, as_json)
    settings = invocation.settings.collector
    once = once or settings.mode == "once"
    while True:
        made = push(invocation, pusher, retry_refused=retry_refused)
        _print(made, as_json)
        if prune:
            return _prune(invocation, root, pusher, as_json)
        if once:
            return invocation.status
        retry_refused = False
        time.sleep(max(settings.interval, made.wait))


def make_pusher(
    invocation: Invocation, root: "Root", adapters: "Adapters | None" = None
) -> "Pusher":
    """Whatever pushes a root to the configured receiver.

    :param adapters: those that are loaded already.
    :raises ConfigError: no receiver is configured, or it may not be talked to so.
    """
    from asz.export.endpoint import receiver_of
    from asz.export.push import Pusher

    settings = invocation.settings
    otlp = settings.export.otlp
    receiver = receiver_of(otlp, settings.origin)
    if receiver.local:
        adapters = adapters or invocation.adapters()
        _refuse_own(invocation, receiver, adapters)

    def runtimes() -> Mapping[str, str]:
        found = adapters or invocation.adapters()
        return {a.info.service_name: a.info.runtime for a in found.active if a.info.service_name}

    return Pusher(root, otlp, receiver, runtimes)


def _refuse_own(invocation: Invocation, receiver: "Receiver", adapters: "Adapters") -> None:
    """Refuse to send to asz's own receiver: it would keep the metrics, to be sent again and again, and
    drop the files, which would count as sent.

    :raises ConfigError: an enabled adapter listens there.
    """
    for adapter in adapters.active:
        listen = getattr(adapter.options, "listen", None) if adapter.receives else None
        if isinstance(listen, str) and listen.endswith(f":{receiver.port}"):
            raise ConfigError(
                f"{invocation.settings.origin('export.otlp.endpoint')}: export.otlp.endpoint: expected "
                f"a receiver other than asz's own, {adapter.title} listens on {listen}"
            )


def push(
    invocation: Invocation,
    pusher: "Pusher",
    *,
    retry_refused: bool = False,
    deadline: float | None = None,
) -> "Pass":
    """One pass, with what it has to say on standard error."""
    from asz.cli.progress import sending

    with sending() as shown:
        made = pusher.run(shown, retry_refused=retry_refused, deadline=deadline)
    for note in made.notes:
        invocation.note(note)
    for warning in made.warnings:
        invocation.say(f"warning: {warning}")
    for problem in made.problems:
        invocation.error(problem)
    if not made.clean:
        invocation.status = max(invocation.status, 1)
    return made


def _print(made: "Pass", as_json: bool) -> None:
    from asz.jsonio import encode

    if as_json:
        click.echo(encode(made.numbers()).decode())
    else:
        click.echo(f"[{time.strftime('%H:%M:%S')}] {pass_line(made)}")


def pass_line(made: "Pass") -> str:
    """The numbers of a pass, without its time of day."""
    from asz.collect.passes import human_bytes

    numbers = asdict(made.counts)
    numbers["bytes"] = human_bytes(made.counts.bytes)
    pairs = " ".join(f"{name}={value}" for name, value in numbers.items())
    return f"{pairs} ({made.seconds:.1f}s)"


def _prune(invocation: Invocation, root: "Root", pusher: "Pusher", as_json: bool) -> int:
    from asz.collect.passes import human_bytes
    from asz.export.prune import prune
    from asz.jsonio import encode

    pruned = prune(root, pusher.receiver.name)
    if as_json:
        click.echo(encode(asdict(pruned)).decode())
    else:
        size = human_bytes(pruned.bytes)
        click.echo(f"removed={pruned.removed} bytes={size} kept={pruned.kept}")
    return invocation.status
