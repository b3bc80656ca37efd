"""What the index knows of landed files, and all that assembly ever sees of them.

A row holds identifiers, roles and positions, never text. Rows are made either from a record that is
being landed or from a landed line that is being read again; both give the same row.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import msgspec

from asz_hookspecs.vocabulary import FLAGS

FLAG_BITS: Final = {flag: 1 << place for place, flag in enumerate(FLAGS)}
"""Bit of each record flag in ``RecordRow.flags``."""

JOINING: Final = frozenset(("call", "result", "text", "reasoning"))
"""Part kinds the index keeps: those a tool join, a message step or a thinking step is made of."""


class FileRow(NamedTuple):
    """One landed file."""

    seq: int
    name: str
    """Path below the session directory, forward slashes."""
    kind: str
    """Header kind: transcript, agent_meta, journal, workflow_manifest, workflow_script, changes."""
    src: str
    gen: int
    """0 for the first reading."""
    stream: str | None
    batch: str | None
    runtime: str
    records: int
    digest: str
    """SHA-256 of the whole file."""


class PartRow(NamedTuple):
    """One part that joins."""

    block: int
    """Position in the record, from 0."""
    kind: str
    """``call``, ``result``, ``text`` or ``reasoning``."""
    id: str | None
    """On a call its tool-use id, on a result the one it answers."""
    name: str | None
    failed: bool | None


class UsageRow(NamedTuple):
    """Token counts as reported."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class RecordRow(msgspec.Struct, array_like=True, gc=False):
    """One landed record: its place, its roles and its joining parts.

    Sixty thousand of them are held at once, so they are what msgspec makes them: small, quick to read,
    and nothing the garbage collector looks at.
    """

    seq: int
    row: int
    """Line after the header, from 1."""
    ord: int
    off: int
    sha: str
    rev: int | None
    id: str | None
    parent: str | None
    call: str | None
    run: str | None
    continues: str | None
    tool: str | None
    child: str | None
    batch: str | None
    started_by: str | None
    label: str | None
    from_: str | None
    time: int | None
    """Nanoseconds since the epoch, UTC; ``None`` when absent or not a time."""
    trigger: str | None
    flags: int
    model: str | None
    usage: UsageRow | None = None
    parts: tuple[PartRow, ...] = ()

    def has(self, flag: str) -> bool:
        """Whether the record carries a flag."""
        return bool(self.flags & FLAG_BITS[flag])


class _Part(Protocol):
    k: str
    id: str | None
    name: str | None
    of: str | None
    failed: bool | None


def part_rows(parts: Iterable[_Part]) -> tuple[PartRow, ...]:
    """The joining parts of a record."""
    return tuple(
        PartRow(block, part.k, part.of if part.k == "result" else part.id, part.name, part.failed)
        for block, part in enumerate(parts)
        if part.k in JOINING
    )


def flag_bits(flags: Iterable[str]) -> int:
    """The bits of a record's flags; a flag this version does not know is left out."""
    bits = 0
    for flag in flags:
        bits |= FLAG_BITS.get(flag, 0)
    return bits


@dataclass(slots=True)
class SessionRows:
    """What the index knows of one session through a watermark. ``files`` by sequence, ``records`` in
    landed order: ascending ``(seq, row)``."""

    session: str
    through_seq: int
    files: dict[int, FileRow]
    records: list[RecordRow]
