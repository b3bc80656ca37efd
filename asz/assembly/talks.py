"""Stage 7: talks and runs.

A run is one prompt cycle of one stream. On the main stream a run with an external trigger opens a
talk, and so does one that states no trigger at all: a local command leaves no mark of its origin, and
a person acted. Any other run continues the talk in progress. A child stream is one talk.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.epochs import Epoch, Epochs
from asz.assembly.evidence import Evidence
from asz.assembly.model import Node, ref_of
from asz.assembly.runs import opens_inferred
from asz.assembly.streams import MAIN, Stream
from asz.storage.rows import RecordRow

NONE_STATED: Final = "none_stated"
_STRENGTH: Final = {"external": 3, "notification": 2, "unknown": 1}
_TRIGGERS: Final = (NONE_STATED, "unknown", "notification", "external")


@dataclass(slots=True)
class Talk:
    """One exchange. Times are nanoseconds since the epoch."""

    id: str
    stream: str
    first: RecordRow
    trigger: str
    epoch: Epoch
    first_time: int | None = None
    """Time of its first record that has one."""
    last_time: int | None = None
    """Latest time of its records."""


@dataclass(slots=True)
class Run:
    """One prompt cycle of one stream."""

    name: str
    stream: str
    first: RecordRow
    stated: bool
    """Whether a record of this stream carries the run. If none does, records were only placed in it by
    walking; that states nothing, so it opens no talk."""
    strength: int = 0
    inferred: bool = False
    first_time: int | None = None
    last_time: int | None = None
    id: str = ""
    talk: Talk | None = None
    parent: str = ""
    """Node id of its talk, or of its epoch when no talk has begun yet."""


@dataclass(slots=True)
class Placement:
    """Where every record hangs."""

    evidence: Evidence
    epochs: Epochs
    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    """By stream and run name: a run name is not unique across streams."""
    talks: list[Talk] = field(default_factory=list)
    """The main stream's in order of their first record, then the child streams'."""
    child_talks: dict[str, Talk] = field(default_factory=dict)

    def run_of(self, record: RecordRow) -> Run | None:
        """The run a transcript record is placed in."""
        name = self.evidence.walk.of(record)
        if name is None:
            return None
        return self.runs.get((self.evidence.stream_of[record.seq], name))

    def container(self, record: RecordRow) -> str:
        """Node a record's steps hang from: its run, else its child stream's talk, else its epoch."""
        run = self.run_of(record)
        if run is not None:
            return run.id
        stream = self.evidence.stream_of[record.seq]
        talk = self.child_talks.get(stream)
        return talk.id if talk is not None else self.epochs.at(stream, record).id

    def container_of_call(self, first: RecordRow, last: RecordRow, stream: str) -> str:
        """Node a call hangs from: the run of its first fragment, in the stream of its last."""
        name = self.evidence.walk.of(first)
        run = self.runs.get((stream, name)) if name is not None else None
        return run.id if run is not None else self.container(last)

    def later_epoch(self, record: RecordRow, stream: str) -> str | None:
        """Epoch of a record when it is not the one its talk began in."""
        if self.evidence.stream_of[record.seq] != stream:
            return None
        epochs = self.epochs.by_stream[stream]
        if len(epochs) == 1:
            return None
        run = self.run_of(record)
        talk = self.child_talks.get(stream) or (run.talk if run is not None else None)
        if talk is None:
            return None
        epoch = self.epochs.at(stream, record)
        return epoch.id if epoch is not talk.epoch else None


def place(evidence: Evidence, epochs: Epochs) -> Placement:
    """Find every run, in the order of their first records, and cut the main stream into talks."""
    placement = Placement(evidence, epochs)
    for name, stream in evidence.streams.items():
        runs = _runs_of(evidence, stream)
        if stream.role == MAIN:
            _cut_talks(placement, runs)
        else:
            _one_talk(placement, stream, runs)
        for run in runs:
            placement.runs[name, run.name] = run
    return placement


def _runs_of(evidence: Evidence, stream: Stream) -> list[Run]:
    """The runs of one stream by first record: those its records carry, and those they walk to."""
    found: dict[str, Run] = {}
    for record in stream.records:
        name = record.run
        if name is None:
            continue
        run = found.get(name)
        if run is None:
            run = found[name] = Run(name, stream.name, record, stated=True)
        run.inferred = run.inferred or opens_inferred(record)
        if record.trigger is not None:
            run.strength = max(run.strength, _STRENGTH.get(record.trigger, 1))
    walk = evidence.walk
    for record in stream.records:
        name = walk.of(record)
        if name is None:
            continue
        run = found.get(name)
        if run is None:
            run = found[name] = Run(name, stream.name, record, stated=False)
        time = record.time
        if time is not None:
            if run.first_time is None:
                run.first_time = run.last_time = time
            elif run.last_time is not None and time > run.last_time:
                run.last_time = time
    return sorted(found.values(), key=lambda run: (run.first.seq, run.first.row))


def _cut_talks(placement: Placement, runs: list[Run]) -> None:
    """Talks of the main stream, each opened by one of its runs."""
    talk: Talk | None = None
    for run in runs:
        trigger = _TRIGGERS[run.strength]
        epoch = placement.epochs.at(run.stream, run.first)
        if run.stated and trigger in ("external", NONE_STATED):
            talk = Talk(ids.talk(run.stream, run.name), run.stream, run.first, trigger, epoch)
            placement.talks.append(talk)
        _enter(run, talk, epoch)


def _one_talk(placement: Placement, stream: Stream, runs: list[Run]) -> None:
    """A child stream's talk, there whether or not a run is."""
    first = stream.records[0] if stream.records else stream.first
    epoch = placement.epochs.by_stream[stream.name][0]
    talk = Talk(ids.talk(stream.name), stream.name, first, "unknown", epoch)
    talk.first_time = next((r.time for r in stream.records if r.time is not None), None)
    placement.talks.append(talk)
    placement.child_talks[stream.name] = talk
    for run in runs:
        _enter(run, talk, epoch)


def _enter(run: Run, talk: Talk | None, epoch: Epoch) -> None:
    """Put a run into its talk, or before any talk into its epoch."""
    run.talk = talk
    run.parent = talk.id if talk is not None else epoch.id
    run.id = ids.run(run.parent, run.name)
    if talk is None:
        return
    if run.first_time is not None and talk.first_time is None:
        talk.first_time = run.first_time
    if run.last_time is not None:
        talk.last_time = max(run.last_time, talk.last_time or run.last_time)


def write(draft: Draft, placement: Placement) -> None:
    """Talk and run nodes."""
    for talk in placement.talks:
        attrs: dict[str, Any] = {"trigger": talk.trigger}
        ref = ref_of(talk.first)
        draft.add(Node(talk.id, 0, "talk", talk.epoch.id, talk.stream, ref, (), attrs))
    for run in placement.runs.values():
        attrs = {"trigger": _TRIGGERS[run.strength]}
        if run.inferred:
            attrs["inferred"] = True
        later = placement.later_epoch(run.first, run.stream)
        if later is not None:
            attrs["epoch"] = later
        draft.add(Node(run.id, 0, "run", run.parent, run.stream, ref_of(run.first), (), attrs))
