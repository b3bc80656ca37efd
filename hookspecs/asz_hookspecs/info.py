"""Who an adapter is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterInfo:
    """What an adapter says of itself, once, at load."""

    version: str
    """Version of the adapter; written into every landed header."""

    runtime: str
    """Display name of the runtime, for example ``Claude Code``; sessions belong to a runtime."""

    dialect: str
    """Whose vocabulary the records are read in, ``name/version``, for example ``claude-code/1``."""

    default_enabled: bool = True
    """Whether it takes part when asz.yaml does not name it."""

    joins: str | None = None
    """The runtime whose sessions it adds records to; ``None`` for an adapter with its own sessions."""

    meters: str | None = None
    """What its metrics count, for example ``Claude Code tokens``; ``None`` when it makes none. Of the
    adapters that meter one thing only one may have metrics on, or it would be counted twice."""

    metrics_default: bool = False
    """Whether metrics are on when asz.yaml does not say."""

    service_name: str = ""
    """``service.name`` of the derived metrics' resource: the runtime's own, as its exporter says it."""

    options: str | None = None
    """Where its options model is, ``module:Class`` (a pydantic model); ``None``: it takes none."""

    sample: str | None = None
    """Absolute directory of a small invented history that ships with the adapter; ``asz collect
    --sample`` reads it in place of the option ``source_root``."""
