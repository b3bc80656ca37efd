"""What the rest of asz is told: plain frozen values that travel to worker processes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

DEFAULT: Final = "default"
"""Origin of a value nobody set."""

_ALIASES: Final = {"claude-code-local": "claude-code"}


def canonical_name(name: str) -> str:
    """The entry point an adapter's name stands for; older names of an adapter stay accepted."""
    return _ALIASES.get(name, name)


@dataclass(frozen=True, slots=True)
class Collector:
    """How ``asz collect`` runs."""

    mode: Literal["watch", "once"] = "watch"
    interval: int = 600
    """Seconds between two passes of a watching collector."""
    max_delta_bytes: int = 2 * 1024 * 1024
    """Landed bytes after which a landed file is cut."""


@dataclass(frozen=True, slots=True)
class Parse:
    """How rounds are written."""

    max_round_bytes: int = 2 * 1024 * 1024
    """Bytes after which a round is cut."""


@dataclass(frozen=True, slots=True)
class Otlp:
    """The OTLP receiver that what was collected is pushed to."""

    protocol: Literal["grpc", "http"] = "grpc"
    """``http``: HTTP with protobuf."""
    endpoint: str = ""
    """``host:port``, or an http or https address; empty: nothing is pushed."""
    tls: bool = False
    ca_file: Path | None = None
    """Absolute path of the certificates that are trusted, PEM; ``None``: those of the system."""
    insecure: bool = False
    """Whether a host that is not this machine may be talked to without TLS."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request. Their values are secrets and are never printed."""
    timeout: int = 60
    """Seconds a request may take."""
    service_name: str = ""
    """Empty: the runtime's display name."""
    instance_id: str = ""
    """Empty: ``user@host``."""
    layer: str = "AI_AGENT"
    batch_bytes: int = 3 * 1024 * 1024
    """Size a request stays below, unless one file is larger."""
    max_bytes_per_minute: int = 0
    """0: as fast as the receiver takes it."""
    logs: bool = True
    """Whether landed files and rounds are pushed."""
    metrics: bool = True
    """Whether the metrics spool is pushed."""


@dataclass(frozen=True, slots=True)
class Export:
    """Where what was collected goes."""

    otlp: Otlp = Otlp()


@dataclass(frozen=True, slots=True)
class AdapterEntry:
    """One entry under ``adapters:``, or the one an adapter has that no file lists."""

    name: str
    """Entry point name."""
    enabled: bool | None = None
    """``None``: nobody said, the adapter's own default decides."""
    label: str = ""
    """Tells several entries of one adapter apart; part of the key its cursors are kept under."""
    metrics: bool | None = None
    """Whether its metrics are made; ``None``: nobody said, the adapter's own default decides."""
    metrics_lookback: int = 86_400
    """Seconds the first derivation over a root with history reaches back."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the entry that are the adapter's own, not yet checked."""
    file: Path | None = None
    """The file that lists it; ``None`` for a default."""
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)
    """Line of each key and item, by its path below the entry; the entry itself is ``()``."""

    @property
    def title(self) -> str:
        """Name and label as one word for a person: ``claude-code`` or ``claude-code[work]``."""
        return f"{self.name}[{self.label}]" if self.label else self.name

    def origin(self, *path: str | int) -> str:
        """Where a key of the entry was set: ``FILE:LINE`` or ``default``."""
        line = self.lines.get(path)
        return DEFAULT if line is None else f"{self.file}:{line}"


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective configuration of one command."""

    root: Path
    """Absolute path of the storage root, existing or not."""
    collector: Collector = Collector()
    parse: Parse = Parse()
    export: Export = Export()
    adapters: tuple[AdapterEntry, ...] = ()
    """Listed entries in their order, then defaults of those not listed. An installed adapter that is
    in neither has no entry."""
    file: Path | None = None
    """The configuration file that was read."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where each value that is not a default was set, by dotted key."""

    def origin(self, key: str) -> str:
        """Where ``key`` was set: ``FILE:LINE``, an environment variable, an option, or ``default``."""
        return self.origins.get(key, DEFAULT)


DEFAULT_ADAPTERS: Final = (
    AdapterEntry("claude-code", enabled=True),
    AdapterEntry("claude-code-changes", enabled=True),
    AdapterEntry("claude-code-otlp", enabled=False),
)
"""Entries of adapters asz.yaml does not list, as they are shipped."""
