"""Whose metrics may be on."""

from collections.abc import Iterable

from asz.errors import ConfigError
from asz.plugins.adapter import Adapter


def check_metering(active: Iterable[Adapter]) -> None:
    """Refuse metrics of an adapter that makes none, and of two entries that would count the same.

    :raises ConfigError: naming the entries, and why.
    """
    metering: dict[str, Adapter] = {}
    for adapter in active:
        meters = adapter.info.meters
        if meters is None and adapter.entry.metrics:
            raise ConfigError(
                f"{adapter.entry.origin('metrics')}: {adapter.title}.metrics: {adapter.name} makes no "
                "metrics; leave the key out or set it to false"
            )
        if meters is None or not adapter.metrics:
            continue
        other = metering.setdefault(meters, adapter)
        if other is not adapter:
            raise ConfigError(
                f"{_where(adapter, other)}: metrics are on for {other.title} and for {adapter.title}, "
                f"which both count {meters}: one count would be sent twice; set metrics: false for one "
                "of them"
            )


def _where(*adapters: Adapter) -> str:
    """Where asz.yaml switches the metrics of one of some entries on, or lists it."""
    for path in ("metrics", "name"):
        for adapter in adapters:
            if adapter.entry.origin(path) != "default":
                return adapter.entry.origin(path)
    return "adapters"
