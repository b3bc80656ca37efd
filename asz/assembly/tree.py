"""The top of the tree: the session and its streams. What flows across streams is a relation, so a
child stream hangs from the session, never from the call that started it."""

from typing import Any

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.evidence import Evidence
from asz.assembly.model import Node, ref_of
from asz.assembly.streams import Stream
from asz_hookspecs.vocabulary import STREAM_MAIN


def title_of(evidence: Evidence) -> str | None:
    """The last name the runtime gave the conversation, on its main stream."""
    main = evidence.streams.get(STREAM_MAIN)
    if main is None:
        return None
    return next((record.label for record in reversed(main.records) if record.label), None)


def write(draft: Draft, evidence: Evidence, title: str | None) -> None:
    """The session node and a node for each stream."""
    session = ids.session(evidence.session)
    attrs: dict[str, Any] = {"title": title} if title is not None else {}
    ref = ref_of(evidence.records[0]) if evidence.records else None
    draft.add(Node(session, 0, "session", None, None, ref, (), attrs))
    batches = _batches(evidence)
    for name, stream in evidence.streams.items():
        attrs = _stream_attrs(stream, batches.get(name))
        record = stream.records[0] if stream.records else stream.first
        draft.add(Node(ids.stream(name), 0, "stream", session, name, ref_of(record), (), attrs))


def _stream_attrs(stream: Stream, batch: str | None) -> dict[str, Any]:
    attrs: dict[str, Any] = {"role": stream.role}
    if stream.label is not None:
        attrs["label"] = stream.label
        if stream.label_from_journal:
            attrs["named_by"] = "journal"
    if stream.started_by is not None:
        attrs["started_by"] = stream.started_by
    if batch is not None:
        attrs["batch"] = batch
    return attrs


def _batches(evidence: Evidence) -> dict[str, str]:
    """The run whose journal names each child."""
    found: dict[str, str] = {}
    for record in evidence.records:
        if record.child is None or evidence.kinds[record.seq] != "journal":
            continue
        batch = evidence.batch_of(record)
        if batch is not None:
            found.setdefault(record.child, batch)
    return found
