"""One full assembly: landed records in, structure out. The same rows always give the same structure.

Assembly sees identifiers, roles and positions, never text, and knows no runtime.
"""

import gc
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager

from asz.assembly import (
    calls,
    epochs,
    evidence,
    outputs,
    segments,
    spawns,
    steps,
    talks,
    tools,
    tree,
)
from asz.assembly.draft import Draft
from asz.assembly.model import Facts, Structure, Tokens
from asz.storage.rows import RecordRow, SessionRows


@contextmanager
def without_gc() -> Iterator[None]:
    """Keep the cycle collector out of a burst of allocations that makes no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def assemble(rows: SessionRows, conversation: str | None = None) -> Structure:
    """Everything that the rows establish.

    :param conversation: id of the conversation; the session's own when not given. Never derived.
    """
    with without_gc():
        return _assemble(rows, rows.session if conversation is None else conversation)


def _assemble(rows: SessionRows, conversation: str) -> Structure:
    result = Structure(
        session=rows.session, conversation=conversation, through_seq=rows.through_seq
    )
    draft = Draft(result)
    seen = evidence.gather(rows, conversation)
    grouped = calls.group(seen)
    joined = tools.join(seen)
    spawned = spawns.find(seen, joined)
    cut = epochs.cut(seen)
    placed = talks.place(seen, cut)
    title = tree.title_of(seen)

    tree.write(draft, seen, title)
    epochs.write(draft, seen, cut)
    talks.write(draft, placed)
    calls.write(
        draft,
        grouped,
        lambda call: placed.container_of_call(call.fragments[0], call.fragments[-1], call.stream),
        placed.later_epoch,
    )
    writer = steps.StepWriter(draft, placed, grouped, joined, spawned)
    tools.write(
        draft,
        joined,
        writer.parent_of_part,
        seen.stream_of,
        spawned.of_use,
        spawns.workflow_names(seen, joined, spawned),
    )
    writer.write()
    outputs.write(draft, placed)
    spawns.write(draft, seen, spawned)
    segments.write(draft, placed, joined)
    result.facts = facts(result, title, rows.records, calls.tokens(grouped))
    return result


def facts(
    structure: Structure, title: str | None, records: list[RecordRow], tokens: Tokens
) -> Facts:
    """What a list shows of the structure."""
    from_time, through_time = times(records)
    return Facts(
        title=title,
        from_time=from_time,
        through_time=through_time,
        talks=structure.count("talk"),
        steps=structure.count_steps(),
        streams=structure.count("stream"),
        segments=structure.count("segment"),
        unresolved=structure.count_open(),
        tokens=tokens,
    )


def times(records: list[RecordRow]) -> tuple[int | None, int | None]:
    """Earliest and latest time of some records."""
    known = [record.time for record in records if record.time is not None]
    return (min(known), max(known)) if known else (None, None)


def through(rows: SessionRows, seq: int) -> SessionRows:
    """The same rows as they stood when the landed file ``seq`` was the last one."""
    if seq >= rows.through_seq:
        return rows
    files = {number: file for number, file in rows.files.items() if number <= seq}
    return SessionRows(rows.session, seq, files, between(rows, 0, seq))


def between(rows: SessionRows, first: int, last: int) -> list[RecordRow]:
    """The records of the landed files ``first`` to ``last``."""
    start = bisect_left(rows.records, first, key=_seq)
    return rows.records[start : bisect_left(rows.records, last + 1, key=_seq)]


def _seq(record: RecordRow) -> int:
    return record.seq
