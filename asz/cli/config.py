"""``asz config``."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, printable, table

if TYPE_CHECKING:
    from asz.config import Settings
    from asz.plugins import Adapters, AdapterStatus


class _Value(NamedTuple):
    key: str
    value: Any
    origin: str


@_command("config")
@json_option
def command(invocation: Invocation, as_json: bool) -> int:
    """Print the effective configuration and where each value comes from."""
    settings = invocation.settings
    adapters = invocation.adapters()
    values = [*_core(settings), *_adapters(adapters)]
    if as_json:
        file = printable(str(settings.file)) if settings.file else None
        shown = [item._replace(origin=printable(item.origin))._asdict() for item in values]
        click.echo(json_text({"file": file, "settings": shown}))
        return invocation.status
    rows = [(item.key, _shown(item.value), item.origin) for item in values]
    for line in table(("KEY", "VALUE", "FROM"), rows):
        click.echo(line)
    return invocation.status


def _core(settings: "Settings") -> Iterator[_Value]:
    from asz.config.durations import format_duration

    yield _Value("storage.root", printable(str(settings.root)), settings.origin("storage.root"))
    for section in ("collector", "parse"):
        for name, value in asdict(getattr(settings, section)).items():
            key = f"{section}.{name}"
            shown = format_duration(value) if name == "interval" else value
            yield _Value(key, shown, settings.origin(key))
    for name, value in asdict(settings.export.otlp).items():
        key = f"export.otlp.{name}"
        yield _Value(key, _exported(name, value), settings.origin(key))


def _exported(name: str, value: Any) -> Any:
    """A value of ``export.otlp`` as it is written; of a header, which may be a secret, its name alone."""
    from asz.config.durations import format_duration

    if name == "headers":
        return {printable(header): "(set)" for header in value}
    if name == "ca_file":
        return "" if value is None else printable(str(value))
    return format_duration(value) if name == "timeout" else value


def _adapters(adapters: "Adapters") -> Iterator[_Value]:
    from asz.config.durations import format_duration

    for status in adapters.statuses:
        entry = status.entry
        above = f"adapters.{entry.title}"
        enabled = status.state not in ("disabled", "off")
        yield _Value(f"{above}.enabled", enabled, _who(status))
        if status.state == "ok" and status.info is not None and status.info.meters is not None:
            metrics = adapters.get(entry.name, entry.label).metrics
            yield _Value(f"{above}.metrics", metrics, entry.origin("metrics"))
            lookback = format_duration(entry.metrics_lookback)
            yield _Value(f"{above}.metrics_lookback", lookback, entry.origin("metrics_lookback"))
        for name, value in _options(adapters, status).items():
            yield _Value(f"{above}.{name}", value, entry.origin(name))


def _who(status: "AdapterStatus") -> str:
    """Where it was settled that an adapter takes part or not."""
    if status.state == "disabled" and status.entry.enabled is not False:
        return status.reason
    return status.entry.origin("enabled")


def _options(adapters: "Adapters", status: "AdapterStatus") -> dict[str, Any]:
    """An adapter's options, defaults included when its model could be asked."""
    if status.state != "ok":
        return dict(status.entry.options)
    options = adapters.get(status.installed.name, status.entry.label).options
    return {} if options is None else options.model_dump(mode="json")


def _shown(value: Any) -> str:
    from asz.jsonio import encode

    return encode(value).decode()
