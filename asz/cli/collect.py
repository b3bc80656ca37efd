"""``asz collect``: the pipeline, once or watching."""

import shlex
import signal
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from asz.cli.deriving import deriving
from asz.cli.invocation import Invocation, adapter_option, json_option
from asz.cli.invocation import command as _command
from asz.cli.push import make_pusher, pass_line, push
from asz.cli.receiving import note_idle, receivers
from asz.cli.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from asz.collect.passes import Collector, Pass
    from asz.collect.work import Entries
    from asz.export.push import Pusher
    from asz.plugins import Adapters, Selection

WINDOWS_WATCHING: Final = 64
"""Windows read of one source in one watching pass: no source keeps the others waiting for long."""


@_command("collect")
@adapter_option
@click.option("--once", is_flag=True, help="Make one pass and end.")
@click.option("--sample", is_flag=True, help="Collect the invented sample, into a root of its own.")
@click.option("--or-sample", is_flag=True, help="Collect the sample when there is no history.")
@json_option
def command(
    invocation: Invocation,
    only: tuple[str, ...],
    once: bool,
    sample: bool,
    or_sample: bool,
    as_json: bool,
) -> int:
    """Find what agents wrote, land it, index it, assemble it.

    Watches until interrupted, a pass every collector.interval; --once makes one pass and ends. SIGTERM
    ends it like an interrupt: what is at hand becomes durable.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    adapters = invocation.adapters(only)
    if sample:
        return _sample(invocation, adapters, as_json)
    once = once or or_sample or invocation.settings.collector.mode == "once"
    collector = _collector(invocation, adapters, invocation.settings.root, once)
    pusher = _pusher(invocation, adapters, collector)
    if not once:
        with receivers(invocation, adapters, collector):
            return _watch(invocation, collector, pusher, as_json)
    note_idle(invocation, adapters)
    made = _pass(invocation, collector, as_json)
    if or_sample and not made.report.counts.sessions:
        return _sample(invocation, adapters, as_json)
    if pusher is not None:
        _push(invocation, pusher, as_json)
    return invocation.status


def _pusher(
    invocation: Invocation, adapters: "Adapters", collector: "Collector"
) -> "Pusher | None":
    """What sends at the end of each pass; ``None`` when no receiver is configured."""
    if not invocation.settings.export.otlp.endpoint:
        return None
    return make_pusher(invocation, collector.root, adapters)


def _push(
    invocation: Invocation, pusher: "Pusher", as_json: bool, deadline: float | None = None
) -> None:
    """Send what there is now, and say so below the pass line."""
    from asz.jsonio import encode

    made = push(invocation, pusher, deadline=deadline)
    if as_json:
        click.echo(encode({"pushed": made.numbers()}))
    elif made.counts.requests or not made.clean:
        click.echo(f"[{time.strftime('%H:%M:%S')}] pushed {pass_line(made)}")


def _collector(
    invocation: Invocation, adapters: "Adapters", root: "Path", once: bool
) -> "Collector":
    from asz.collect.passes import Collector
    from asz.collect.work import Limits, entries_of
    from asz.flow.keeping import ChainKeeper
    from asz.storage.root import Root

    settings = invocation.settings
    opened = Root.open(root, write=True)
    return Collector(
        opened,
        entries_of(adapters.active),
        partial(_load, adapters.selection),
        Limits(settings.collector.max_delta_bytes, None if once else WINDOWS_WATCHING),
        ChainKeeper(settings.parse.max_round_bytes),
        stages=tuple(deriving(opened, adapters, watching=not once)),
    )


def _load(selection: "Selection") -> "Entries":
    """The entries again, in a worker process."""
    from asz.collect.work import entries_of
    from asz.plugins import load_adapters

    return entries_of(load_adapters(selection, validate=False).active)


def _pass(
    invocation: Invocation,
    collector: "Collector",
    as_json: bool,
    deadline: float | None = None,
) -> "Pass":
    """One pass and its line."""
    from asz.cli.progress import display
    from asz.jsonio import encode

    with display() as shown:
        made = collector.run(shown, deadline)
    for note in made.report.notes:
        invocation.note(note)
    for problem in made.report.problems:
        invocation.error(problem)
    if made.report.renewed:
        invocation.say(
            f"{made.report.renewed} conversations were assembled anew by the rules of this asz; the "
            "rounds before are set aside"
        )
    if not made.clean:
        invocation.status = max(invocation.status, 1)
    if not made.report.counts.sessions:
        looked = ", ".join(made.roots)
        if looked:
            invocation.say(f"no sessions found; looked in {looked}")
        elif not made.report.problems:
            invocation.say("no sessions found: no adapter is enabled")
    if as_json:
        click.echo(encode(made.numbers()))
    else:
        click.echo(f"[{time.strftime('%H:%M:%S')}] {made.line()}")
    return made


def _sample(invocation: Invocation, adapters: "Adapters", as_json: bool) -> int:
    """One pass over the samples that ship with the adapters, into a root beside the user's own."""
    from asz.plugins import load_adapters

    entries = tuple(
        replace(adapter.entry, options={"source_root": adapter.info.sample}, lines={})
        for adapter in adapters.active
        if adapter.info.sample is not None
    )
    root = invocation.settings.root
    if invocation.root is None:
        root = root.with_name(f"{root.name}-sample")
    names = frozenset(entry.name for entry in entries)
    chosen = load_adapters(replace(adapters.selection, entries=entries, only=names))
    _pass(invocation, _collector(invocation, chosen, root, once=True), as_json)
    if as_json:
        return invocation.status
    click.echo(f"the sample's root is {printable(str(root))}; to look at it:")
    click.echo(f"  asz conversations --root {printable(shlex.quote(str(root)))}")
    return invocation.status


def _watch(
    invocation: Invocation, collector: "Collector", pusher: "Pusher | None", as_json: bool
) -> int:
    """Passes until interrupted. Sending has the time between two of them: a receiver that is slow, or a
    rate that is low, must not keep what agents write from being landed."""
    interval = invocation.settings.collector.interval
    while True:
        made = _pass(invocation, collector, as_json, deadline=time.monotonic() + interval)
        until = time.monotonic() + interval
        if pusher is not None:
            _push(invocation, pusher, as_json, deadline=until)
        if not made.report.counts.pending:
            time.sleep(max(0.0, until - time.monotonic()))
