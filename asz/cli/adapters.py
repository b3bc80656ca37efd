"""``asz adapters``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from asz.cli.invocation import Invocation, adapter_option, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, printable, table

if TYPE_CHECKING:
    from asz.plugins import Adapters, AdapterStatus

_HEADER = ("NAME", "DISTRIBUTION", "VERSION", "DIALECT", "ENABLED", "STATE", "READS")


@dataclass(frozen=True, slots=True)
class _Row:
    status: "AdapterStatus"
    reads: tuple[str, ...]
    """Directories it looks at; empty unless its state is ``ok``."""

    @property
    def state(self) -> str:
        reason = f": {self.status.reason}" if self.status.state == "broken" else ""
        return f"{self.status.state}{reason}"

    @property
    def enabled(self) -> bool:
        return self.status.state not in ("disabled", "off")

    def cells(self) -> tuple[str, ...]:
        status = self.status
        return (
            status.entry.title,
            status.installed.distribution,
            status.installed.version,
            status.info.dialect if status.info else "-",
            "yes" if self.enabled else "no",
            self.state,
            ", ".join(self.reads) or "-",
        )

    def as_json(self) -> dict[str, Any]:
        status = self.status
        return {
            "name": status.installed.name,
            "label": status.entry.label,
            "distribution": status.installed.distribution,
            "version": status.installed.version,
            "adapter_version": status.info.version if status.info else None,
            "runtime": status.info.runtime if status.info else None,
            "dialect": status.info.dialect if status.info else None,
            "enabled": self.enabled,
            "state": str(status.state),
            "reason": printable(status.reason) or None,
            "reads": [printable(path) for path in self.reads],
        }


@_command("adapters")
@adapter_option
@json_option
def command(invocation: Invocation, only: tuple[str, ...], as_json: bool) -> int:
    """List the installed adapters and what became of each."""
    adapters = invocation.adapters(only)
    rows = [
        _Row(status, _reads(invocation, adapters, status) if status.state == "ok" else ())
        for status in adapters.statuses
    ]
    if as_json:
        click.echo(json_text([row.as_json() for row in rows]))
        return invocation.status
    for line in table(_HEADER, [row.cells() for row in rows]):
        click.echo(line)
    for row in rows:
        if row.status.state in ("disabled", "off"):
            invocation.note(f"{row.status.entry.title}: {row.status.state}: {row.status.reason}")
    return invocation.status


def _reads(
    invocation: Invocation, adapters: "Adapters", status: "AdapterStatus"
) -> tuple[str, ...]:
    from asz.errors import AdapterFailure

    adapter = adapters.get(status.installed.name, status.entry.label)
    try:
        return adapter.discover(adapter.options, lambda _session: frozenset()).roots
    except AdapterFailure as failure:
        invocation.error(failure)
        return ()
