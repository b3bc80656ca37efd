"""``asz glossary``."""

from typing import TYPE_CHECKING

import click

from asz.cli.invocation import Invocation, adapter_option, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, printable, table

if TYPE_CHECKING:
    from asz.plugins import Adapter
    from asz_hookspecs import Term


@_command("glossary")
@click.option("--terms", is_flag=True, help="Names and the runtime's words only.")
@adapter_option
@json_option
def command(invocation: Invocation, terms: bool, only: tuple[str, ...], as_json: bool) -> int:
    """Say what each runtime calls the names of the model."""
    from asz.errors import AdapterFailure

    found: dict[str, tuple[str, list[Term]]] = {}
    for adapter in invocation.adapters(only).active:
        if adapter.name in found:
            continue  # another entry of the same adapter: same words
        try:
            found[adapter.name] = (adapter.info.runtime, _in_order(invocation, adapter))
        except AdapterFailure as failure:
            invocation.error(failure)
    if as_json:
        shown = {
            name: {"runtime": runtime, "terms": [term._asdict() for term in entries]}
            for name, (runtime, entries) in found.items()
        }
        click.echo(json_text(shown))
        return invocation.status
    for name, (runtime, entries) in found.items():
        click.echo(f"{name} ({printable(runtime)})")
        header = ("NAME", runtime.upper()) if terms else ("NAME", runtime.upper(), "WHERE", "NOTE")
        for line in table(header, [term[: len(header)] for term in entries]):
            click.echo(f"  {line}")
    return invocation.status


def _in_order(invocation: Invocation, adapter: "Adapter") -> "list[Term]":
    """The adapter's terms in the order of the model; one it lacks is an error, and one the model does
    not have is left out."""
    from asz_hookspecs.vocabulary import GLOSSARY

    by_name = {term.name: term for term in adapter.glossary()}
    lacking = [name for name in GLOSSARY if name not in by_name]
    if lacking:
        invocation.error(f"adapter {adapter.title}: the glossary lacks {', '.join(lacking)}")
    return [by_name[name] for name in GLOSSARY if name in by_name]
