"""Stage 5: which call started which child stream.

No one field spans the mechanisms. A result that names the child, and a completion notification that
names both, say it exactly. A run's journal names its children but no call; the call is the one whose
result named the run. A sidecar that names the starting stream gives no call at all.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.evidence import Evidence
from asz.assembly.model import EXACT, STRONG, Ref, ref_of
from asz.assembly.streams import CHILD
from asz.assembly.tools import Tools, Use
from asz.storage.rows import FLAG_BITS, RecordRow

VIA_RESULT: Final = "parent tool result"
VIA_NOTIFICATION: Final = "completion notification"
VIA_JOURNAL: Final = "run journal"

_LAUNCH_ACK: Final = FLAG_BITS["launch_ack"]


@dataclass(slots=True)
class Edge:
    """A call and a child stream that came out of it."""

    use: Use
    child: str
    quality: str
    via: str
    evidence: tuple[Ref, ...]


@dataclass(slots=True)
class Launch:
    """The record that says which call launched a run."""

    record: RecordRow
    tool: str


@dataclass(slots=True)
class Spawns:
    """Everything that is known of starts."""

    of_child: defaultdict[str, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    of_use: defaultdict[str, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    """By node id of the call."""
    launches: dict[str, Launch] = field(default_factory=dict)
    """By run of a group of children."""
    announced: dict[str, str] = field(default_factory=dict)
    """Every child that something says was started, and what says so."""
    without_call: dict[str, str] = field(default_factory=dict)
    """Runs and calls that children came out of and that have not landed, with the reason."""
    named: set[str] = field(default_factory=set)
    """Children whose start something accounts for, a call found or not."""

    def start(
        self, use: Use, child: str, quality: str, via: str, evidence: tuple[Ref, ...]
    ) -> None:
        """Note one edge; the first evidence for it stands."""
        edges = self.of_child[child]
        if all(edge.use is not use for edge in edges):
            edge = Edge(use, child, quality, via, evidence)
            edges.append(edge)
            self.of_use[use.id].append(edge)


def find(evidence: Evidence, tools: Tools) -> Spawns:
    """Read every record that names a child. Exact statements go before the journals' inference."""
    spawns = Spawns()
    notifications: list[RecordRow] = []
    journals: list[RecordRow] = []
    for record in evidence.records:
        child = record.child
        kind = evidence.kinds[record.seq]
        if kind != "journal" and record.batch is not None:
            _note_launch(spawns, record)
        if child is None:
            continue
        if kind == "journal":
            journals.append(record)
        elif kind == "agent_meta":
            if record.started_by is not None:
                spawns.named.add(child)
                spawns.announced.setdefault(child, "a sidecar names who started this child")
        elif record.trigger == "notification":
            notifications.append(record)
        else:
            _by_result(spawns, evidence, tools, record, child)
    for record in notifications:
        _by_notification(spawns, evidence, tools, record)
    for record in journals:
        _by_journal(spawns, evidence, tools, record)
    return spawns


def tool_of(record: RecordRow) -> str | None:
    """The call a record speaks of: the one it names, else the one its first result answers."""
    if record.tool is not None:
        return record.tool
    return next((part.id for part in record.parts if part.kind == "result" and part.id), None)


def _note_launch(spawns: Spawns, record: RecordRow) -> None:
    """A run's launch is the first result that names it."""
    assert record.batch is not None
    if record.batch in spawns.launches or all(part.kind != "result" for part in record.parts):
        return
    tool = tool_of(record)
    if tool is not None:
        spawns.launches[record.batch] = Launch(record, tool)


def _by_result(
    spawns: Spawns, evidence: Evidence, tools: Tools, record: RecordRow, child: str
) -> None:
    tool = tool_of(record)
    if tool is None:
        return
    spawns.announced.setdefault(child, "a tool result names this child")
    spawns.named.add(child)
    use = tools.named(tool, record)
    if use is None:
        spawns.without_call.setdefault(tool, "the call that a child came out of has not landed")
    elif child in evidence.streams:
        spawns.start(use, child, EXACT, VIA_RESULT, (ref_of(record),))


def _by_notification(spawns: Spawns, evidence: Evidence, tools: Tools, record: RecordRow) -> None:
    child = record.child
    if child is None or record.tool is None:
        return
    spawns.named.add(child)
    use = tools.named(record.tool, record)
    if use is None:
        reason = "the call that a notified child came out of has not landed"
        spawns.without_call.setdefault(record.tool, reason)
    elif child in evidence.streams:
        spawns.start(use, child, EXACT, VIA_NOTIFICATION, (ref_of(record),))


def _by_journal(spawns: Spawns, evidence: Evidence, tools: Tools, record: RecordRow) -> None:
    child, batch = record.child, evidence.batch_of(record)
    if child is None or batch is None:
        return
    spawns.announced.setdefault(child, "a run journal names this child")
    spawns.named.add(child)
    launch = spawns.launches.get(batch)
    if launch is None:
        spawns.without_call.setdefault(batch, "no landed result names this run as launched")
        return
    use = tools.named(launch.tool, launch.record)
    if use is None:
        spawns.without_call.setdefault(launch.tool, "the call that launched a run has not landed")
    elif child in evidence.streams:
        proof = (ref_of(record), ref_of(launch.record))
        spawns.start(use, child, STRONG, VIA_JOURNAL, proof)


def write(draft: Draft, evidence: Evidence, spawns: Spawns) -> None:
    """``starts`` and ``result_of``, and what is open about starts."""
    for child, edges in spawns.of_child.items():
        for edge in edges:
            draft.relate(
                "starts",
                edge.use.id,
                ids.stream(child),
                quality=edge.quality,
                via=edge.via,
                evidence=edge.evidence,
            )
        _write_result_of(draft, child, edges)
    for child, reason in spawns.announced.items():
        if child not in evidence.streams:
            draft.open("child_stream", child, f"{reason}, and none of its records has landed")
    for name, reason in spawns.without_call.items():
        draft.open("spawn_call", name, reason)
    for name, stream in evidence.streams.items():
        if stream.role == CHILD and name not in spawns.named:
            draft.open(
                "spawn_of_child", name, "nothing that has landed says what started this stream"
            )


def _write_result_of(draft: Draft, child: str, edges: list[Edge]) -> None:
    """A child's output is its call's result when the one call that started it was answered once, by
    the record that names the child, with more than the news of a launch."""
    edge = edges[0]
    output = ids.output(child)
    if len(edges) != 1 or edge.via != VIA_RESULT or output not in draft.nodes:
        return
    results = edge.use.results
    if len(results) != 1 or results[0][0].child != child or results[0][0].flags & _LAUNCH_ACK:
        return
    record, part = results[0]
    draft.relate(
        "result_of",
        output,
        edge.use.id,
        quality=EXACT,
        via=VIA_RESULT,
        evidence=(Ref(record.seq, record.row, part.block),),
    )


def workflow_names(evidence: Evidence, tools: Tools, spawns: Spawns) -> dict[str, str]:
    """Name of the workflow each launching call launched, by node id: a manifest's last label."""
    names: dict[str, str] = {}
    for record in evidence.records:
        if evidence.kinds[record.seq] != "workflow_manifest" or record.label is None:
            continue
        launch = spawns.launches.get(evidence.batch_of(record) or "")
        use = tools.named(launch.tool, launch.record) if launch else None
        if use is not None:
            names[use.id] = record.label
    return names
