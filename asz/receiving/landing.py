"""Landing what was pushed: like a custom source that holds just these records, under the session's lock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from asz.collect.turn import Turn
from asz.collect.work import AdapterCalls, EntryId, Item, Limits, Report, Work
from asz.receiving.errors import sink_errors
from asz.storage.locks import hold
from asz.storage.names import safe_component, safe_src
from asz.storage.root import Root
from asz_hookspecs import (
    AdapterError,
    AdapterInfo,
    Converted,
    Discovery,
    Followed,
    RawRecord,
    Source,
)
from asz_hookspecs.source import SourceKind

_OF_A_STREAM: Final = ("transcript", "agent_meta", "changes")


@dataclass(slots=True)
class _Pushed:
    """An adapter whose one custom source holds ``lines``. Its position counts what was pushed, so that it
    moves with every push and the cursor is saved."""

    adapter: AdapterCalls
    lines: Sequence[bytes]
    asked: bool = False
    """Whether the turn came to reading them."""

    @property
    def name(self) -> str:
        return self.adapter.name

    @property
    def label(self) -> str:
        return self.adapter.label

    @property
    def info(self) -> AdapterInfo:
        return self.adapter.info

    @property
    def options(self) -> Any:
        return self.adapter.options

    def discover(self, options: Any, followed: Followed) -> Discovery:
        return self.adapter.discover(options, followed)

    def land(self, options: Any, source: Source, position: bytes) -> Iterator[RawRecord]:  # noqa: ARG002
        self.asked = True
        first = int(position or b"0") + 1
        return (RawRecord(line, b"%d" % number) for number, line in enumerate(self.lines, first))

    def convert(self, source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
        return self.adapter.convert(source, records, carry)


class _ToTheEnd:
    """Progress nobody watches: a push is landed whole."""

    def advance(self, records: int, size: int) -> None:
        pass

    def stopping(self) -> bool:
        return False


def source_of(stream: str, kind: SourceKind, src: str) -> Source:
    """The source pushed records come from.

    :raises AdapterError: a name cannot be one in a storage root, or the kind does not belong to a stream.
    """
    if kind not in _OF_A_STREAM:
        raise AdapterError(f"kind {kind!r} cannot be pushed; expected {', '.join(_OF_A_STREAM)}")
    if not safe_component(stream):
        raise AdapterError(f"stream {stream!r} refused: not a safe directory name")
    if not safe_src(src):
        raise AdapterError(f"source {src!r} refused: not a path below the source root")
    return Source(src=src, kind=kind, shape="custom", stream=stream)


def land(
    root: Root,
    adapter: AdapterCalls,
    session: str,
    source: Source,
    lines: Sequence[bytes],
    limits: Limits,
) -> list[str]:
    """Land records of one source; durable when this returns.

    :returns: one line for each thing that went wrong and cost no record its bytes.
    :raises Busy: another process has the session.
    :raises StorageFull: the disk takes no more.
    :raises AdapterError: nothing landed and nothing will: a name is refused, or the session is another
        runtime's.
    """
    if not safe_component(session):
        raise AdapterError(f"session {session!r} refused: not a safe directory name")
    entry: EntryId = (adapter.name, adapter.label)
    work = Work(session, (Item(entry, source),), {})
    pushed, report = _Pushed(adapter, lines), Report()
    with sink_errors():
        root.make()
        directory = root.make_session_dir(session)
        with hold(directory / ".lock"):
            Turn(directory, work, {entry: pushed}, limits, _ToTheEnd(), report).run()
    if not pushed.asked:
        raise AdapterError("; ".join(report.problems) or f"{session}: nothing can land there")
    return report.problems
