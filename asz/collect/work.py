"""What one pass has to do, cut into turns: all sources of one session, from all adapters."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from asz.storage.root import Root
from asz_hookspecs import AdapterInfo, Converted, Discovery, Followed, RawRecord, Source

KIND_ORDER: Final = {
    kind: place
    for place, kind in enumerate(
        (
            "transcript",
            "agent_meta",
            "journal",
            "workflow_manifest",
            "workflow_script",
            "changes",
        )
    )
}
"""Order in which the kinds of a session land."""

MANY_IN_A_PLACE: Final = frozenset(("workflow_script", "changes"))
"""Kinds of which a place takes any number of sources: a run has several scripts, and the changes of one
stream are told by every directory a plugin was ever installed in."""


class AdapterCalls(Protocol):
    """What a pass asks of one adapter entry; every method raises ``AszError`` and nothing else."""

    @property
    def name(self) -> str:
        """The adapter's name."""

    @property
    def label(self) -> str:
        """What tells several entries of one adapter apart; empty for the only one."""

    @property
    def info(self) -> AdapterInfo:
        """What the adapter says of itself."""

    @property
    def options(self) -> Any:
        """The entry's validated options."""

    def discover(self, options: Any, followed: Followed) -> Discovery:
        """Call ``asz_discover``; every name in the result is safe."""

    def land(self, options: Any, source: Source, position: bytes) -> Iterator[RawRecord]:
        """Call ``asz_land``; lazily."""

    def convert(self, source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
        """Call ``asz_convert``; the count of records is checked."""


EntryId = tuple[str, str]
"""Adapter name and label; the start of every cursor's key."""

Entries = dict[EntryId, AdapterCalls]
"""Every enabled entry, in the order of the configuration."""

LoadEntries = Callable[[], Entries]
"""Makes the entries again in another process; must be picklable."""


def entries_of(adapters: Iterable[AdapterCalls]) -> Entries:
    """Entries by what their cursors are kept under."""
    return {(adapter.name, adapter.label): adapter for adapter in adapters}


@dataclass(frozen=True, slots=True)
class Item:
    """One source of one entry."""

    entry: EntryId
    source: Source

    @property
    def identity(self) -> tuple[str, str, str]:
        """What its cursor is kept under."""
        return (*self.entry, self.source.cursor_key)

    @property
    def place(self) -> str:
        """Directory of the session its records land in."""
        source = self.source
        return f"streams/{source.stream}" if source.stream is not None else f"runs/{source.batch}"

    @property
    def slot(self) -> tuple[str, str, str]:
        """What only one source may fill."""
        source = self.source
        return (source.kind, self.place, source.src if source.kind in MANY_IN_A_PLACE else "")

    @property
    def landing_order(self) -> tuple[int, bool, bool, str, bytes]:
        """Where it comes in the session's turn."""
        source = self.source
        return (
            KIND_ORDER[source.kind],
            source.auxiliary,
            source.stream != "main",
            self.place,
            source.src.encode(),
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """What a pass saw of one entry, as far as it decides what may be judged gone."""

    hidden: tuple[str, ...] = ()
    """``src`` prefixes that could not be looked under."""
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Work:
    """One session's turn."""

    session: str
    items: tuple[Item, ...]
    seen: dict[EntryId, Seen]
    """By entry; an entry that is not here judges nothing gone."""
    size: int = 0
    """Bytes of its sources on disk: the largest session goes first."""


@dataclass(slots=True)
class Counts:
    """The numbers of a pass line."""

    sessions: int = 0
    sources: int = 0
    landed: int = 0
    records: int = 0
    bytes: int = 0
    gone: int = 0
    conflicts: int = 0
    copies: int = 0
    busy: int = 0
    pending: int = 0
    damaged: int = 0
    skipped: int = 0
    errors: int = 0

    def add(self, other: "Counts") -> None:
        """Add another turn's numbers."""
        for name in Counts.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Report:
    """What a turn, or a whole pass, did."""

    counts: Counts = field(default_factory=Counts)
    problems: list[str] = field(default_factory=list)
    """One line for each thing that was left: conflicts, errors, busy sessions."""
    notes: list[str] = field(default_factory=list)
    """One line for each thing worth saying with ``-v``: damaged lines, skipped names."""
    rounds: int = 0
    """Rounds that were written."""
    renewed: int = 0
    """Conversations that older rules had assembled, and that were assembled anew."""

    def error(self, line: str) -> None:
        """Count an error and keep its line."""
        self.counts.errors += 1
        self.problems.append(line)

    def conflict(self, line: str) -> None:
        """Count a conflict and keep its line."""
        self.counts.conflicts += 1
        self.problems.append(line)

    def add(self, other: "Report") -> None:
        """Add what another turn did."""
        self.counts.add(other.counts)
        self.problems += other.problems
        self.notes += other.notes
        self.rounds += other.rounds
        self.renewed += other.renewed


@dataclass(frozen=True, slots=True)
class Limits:
    """How a pass cuts what it reads and writes."""

    max_delta_bytes: int = 2 << 20
    """Landed bytes in a file, and source bytes in a window."""
    windows_a_source: int | None = None
    """Most windows read of one source in one pass; ``None``: until nothing is pending."""


class Assembled(Protocol):
    """What assembling a session did."""

    @property
    def rounds_written(self) -> int:
        """Rounds that were written."""

    @property
    def renewed(self) -> bool:
        """Whether older rules had assembled it, so that it was assembled anew."""


class Assembler(Protocol):
    """Assembles what landed; picklable. It raises ``AszError`` and nothing else."""

    def mark(self, root: Root, session: str) -> str:
        """What of a session's structure can be seen without opening a database. While that and the index
        stay as they are, so does the answer of ``behind``."""

    def behind(self, root: Root, session: str) -> bool:
        """Whether a session that needs no turn has something to assemble all the same."""

    def assemble(self, root: Root, session: str) -> Assembled:
        """Assemble a session."""


class Progress(Protocol):
    """Told while a turn works; says whether to stop."""

    def advance(self, records: int, size: int) -> None:
        """So many more records and source bytes are read."""

    def stopping(self) -> bool:
        """Whether to end after the window at hand."""
