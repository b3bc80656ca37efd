"""Provider calls as they are counted: of one session, each once however many records it is in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from asz.assembly import calls, evidence
from asz.assembly.assemble import without_gc
from asz.assembly.calls import Call
from asz.assembly.evidence import Evidence
from asz.storage.rows import FLAG_BITS, RecordRow, SessionRows, UsageRow
from asz.storage.times import LATEST_NS
from asz_hookspecs import FinishedCall, Usage
from asz_hookspecs.metrics import StreamRole

_SYNTHETIC: Final = FLAG_BITS["synthetic"]
_ROLES: Final[dict[str, StreamRole]] = {"main": "main", "child": "child", "auxiliary": "auxiliary"}


@dataclass(frozen=True, slots=True)
class ReportedCall:
    """One provider call and what its records report of it."""

    session: str
    stream: str
    role: StreamRole
    """Of the stream of its last fragment."""
    id: str
    """Provider call id."""
    model: str | None
    """Of the last fragment that names one."""
    usage: UsageRow | None
    """Of the last fragment in line order."""
    time: int | None
    """Of the last fragment that has one, nanoseconds since the epoch, UTC; ``None`` also for a time no
    metric can carry."""
    finished: bool
    """Whether a fragment says why the response stopped; only then is its usage what was used."""
    at: tuple[int, int]
    """Where its last fragment landed: sequence and row."""
    last: bool
    """Whether no other response follows it in its stream, so that more of it may still come."""

    def counted(self) -> FinishedCall | None:
        """The call as its adapter is given it; ``None`` when it does not count: it has not finished, or
        nobody said what it used or when."""
        if not self.finished or self.usage is None or self.time is None:
            return None
        return FinishedCall(
            session=self.session,
            stream=self.stream,
            role=self.role,
            call=self.id,
            model=self.model,
            usage=Usage(*self.usage),
            time=self.time,
        )


def runtime_of(rows: SessionRows) -> str | None:
    """The runtime a session belongs to: that of its first transcript. ``None`` when it has none."""
    transcripts = (rows.files[seq] for seq in sorted(rows.files))
    return next((file.runtime for file in transcripts if file.kind == "transcript"), None)


def calls_of(rows: SessionRows) -> list[ReportedCall]:
    """Every call of a session, in the order their first fragments landed within a stream, main's first."""
    with without_gc():
        seen = evidence.gather(rows, rows.session)
        return list(_reported(seen, calls.group(seen)))


def _reported(seen: Evidence, grouped: dict[str, Call]) -> Iterator[ReportedCall]:
    newest = {_newest(stream.records) for stream in seen.streams.values()}
    for name, call in grouped.items():
        fragments = call.fragments
        last = fragments[-1]
        times = (fragment.time for fragment in reversed(fragments))
        time = next((time for time in times if time is not None), None)
        yield ReportedCall(
            session=seen.session,
            stream=call.stream,
            role=_ROLES[seen.streams[call.stream].role],
            id=name,
            model=next((f.model for f in reversed(fragments) if f.model), None),
            usage=last.usage,
            time=time if time is not None and 0 <= time <= LATEST_NS else None,
            finished=call.finished,
            at=(last.seq, last.row),
            last=name in newest,
        )


def _newest(records: list[RecordRow]) -> str | None:
    """The call a stream ends in; ``None`` when something the runtime made up has ended it."""
    last = next((record for record in reversed(records) if record.call is not None), None)
    return None if last is None or last.flags & _SYNTHETIC else last.call
