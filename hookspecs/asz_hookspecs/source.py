"""Where a runtime keeps what it wrote."""

from dataclasses import dataclass
from typing import Literal

SourceKind = Literal[
    "transcript", "agent_meta", "journal", "workflow_manifest", "workflow_script", "changes"
]
Shape = Literal["lines", "document", "custom"]
Compression = Literal["none", "zstd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One thing to read, and where its records land.

    Exactly one of ``stream`` and ``batch`` is set. Both become directory names in the storage root,
    so they must be single safe path components; the core refuses any other.
    """

    src: str
    """Path below ``root``, forward slashes: the source's public name, written into landed headers."""

    kind: SourceKind
    shape: Shape
    """``lines``: an append-only file of lines. ``document``: a file rewritten whole, of which each
    version is one record. ``custom``: read by the adapter's own ``asz_land``."""

    root: str = ""
    """Absolute directory ``src`` lies under; empty for ``custom``."""

    stream: str | None = None
    """``main``, or the name of a child stream."""

    batch: str | None = None
    """The run of a group of children, for its journal, manifest and scripts."""

    auxiliary: bool = False
    """Whether the stream is a helper of the runtime's own; such streams land last."""

    compression: Compression = "none"

    key: str = ""
    """Stable name the cursor is kept under when ``src`` may change; empty: ``src``."""

    @property
    def cursor_key(self) -> str:
        """The name the cursor is kept under."""
        return self.key or self.src


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record of a custom source, as the runtime's store gave it."""

    data: bytes
    """The record's bytes, without a line end."""

    position: bytes = b""
    """Where reading continues after this record: bytes of the adapter's own, 64 KiB at most."""
