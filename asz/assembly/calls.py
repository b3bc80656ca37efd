"""Stage 3: provider calls, by call id over the whole session.

Fragments of one response lie on several lines with their own tool results between them, so they are
found by key and put in landed order; times tie and run backwards, and parent links fork.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.evidence import Evidence
from asz.assembly.model import Node, Tokens, position, ref_of
from asz.storage.rows import FLAG_BITS, RecordRow

_SYNTHETIC: Final = FLAG_BITS["synthetic"]
_FINISHED: Final = FLAG_BITS["finished"]


@dataclass(slots=True)
class Call:
    """One provider call."""

    id: str
    """Node id."""
    stream: str
    """Stream of its last fragment."""
    fragments: list[RecordRow]
    """In landed order, at least one."""

    @property
    def finished(self) -> bool:
        """Whether any fragment says why the response stopped."""
        return any(fragment.flags & _FINISHED for fragment in self.fragments)


def group(evidence: Evidence) -> dict[str, Call]:
    """Every call by call id. A synthetic record is in none: no provider answered it."""
    found: dict[str, Call] = {}
    for stream in evidence.streams.values():
        for record in stream.records:
            name = record.call
            if name is None or record.flags & _SYNTHETIC:
                continue
            call = found.get(name)
            if call is None:
                found[name] = Call(ids.call(name), stream.name, [record])
            else:
                call.fragments.append(record)
                if call.stream != stream.name:
                    _order(call, evidence)
    return found


def _order(call: Call, evidence: Evidence) -> None:
    """Landed order again, for a call that lies in two streams."""
    call.fragments.sort(key=lambda record: (record.seq, record.row))
    call.stream = evidence.stream_of[call.fragments[-1].seq]


def owner(calls: dict[str, Call], record: RecordRow) -> Call | None:
    """The call a record is a fragment of."""
    if record.call is None or record.flags & _SYNTHETIC:
        return None
    return calls.get(record.call)


def write(
    draft: Draft,
    calls: dict[str, Call],
    container: Callable[[Call], str],
    later_epoch: Callable[[RecordRow, str], str | None],
) -> None:
    """The node of each call.

    :param container: the node a call hangs from.
    :param later_epoch: the epoch of a record when it is not its talk's.
    """
    for call in calls.values():
        fragments = call.fragments
        attrs: dict[str, Any] = {
            "fragments": len(fragments),
            "usage_from": "last_fragment_in_line_order",
            **_usage(call),
        }
        epoch = later_epoch(fragments[0], call.stream)
        if epoch is not None:
            attrs["epoch"] = epoch
        refs = tuple([ref_of(fragment) for fragment in fragments])
        draft.add(Node(call.id, 0, "llm.call", container(call), call.stream, refs[0], refs, attrs))


def _usage(call: Call) -> dict[str, Any]:
    """Where the call's usage is to be read, if anywhere.

    The counts of a response that never said why it stopped are those of a stream cut short; they are
    pointed at as reported, never offered as the call's usage.
    """
    last = call.fragments[-1]
    if not call.finished:
        attrs: dict[str, Any] = {"usage": "unavailable", "stop_reason": "unavailable"}
        if last.usage is not None:
            attrs["usage_reported_at"] = position(last)
        return attrs
    if last.usage is None:
        return {"usage": "unavailable"}
    return {"usage": "observed_replayable", "usage_at": position(last)}


def tokens(calls: dict[str, Call]) -> Tokens:
    """Counts of all finished calls."""
    sums = [0, 0, 0, 0]
    for call in calls.values():
        usage = call.fragments[-1].usage
        if usage is not None and call.finished:
            for place, count in enumerate(usage):
                sums[place] += count
    return Tokens(*sums)
