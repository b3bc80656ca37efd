"""Step nodes: what each record, and each text or reasoning part of one, is in the conversation."""

from typing import Any, Final

from asz.assembly import calls, ids
from asz.assembly.calls import Call
from asz.assembly.draft import Draft
from asz.assembly.model import EXACT, STRONG, Node, Ref, ref_of
from asz.assembly.spawns import Spawns
from asz.assembly.talks import Placement
from asz.assembly.tools import Tools
from asz.storage.rows import FLAG_BITS, RecordRow

_RESET: Final = FLAG_BITS["context_reset"]
_SUMMARY: Final = FLAG_BITS["reset_summary"]
_INJECTED: Final = FLAG_BITS["injected"]
_INPUT: Final = FLAG_BITS["external_input"]
_INFERRED: Final = FLAG_BITS["inferred"]
_SYNTHETIC: Final = FLAG_BITS["synthetic"]
_ERROR: Final = FLAG_BITS["error"]

_PLAIN: Final = tuple(
    (FLAG_BITS[flag], prefix, kind)
    for flag, prefix, kind in (
        ("launch_ack", "ack", "agent.launch_ack"),
        ("error", "error", "error.api"),
        ("turn_duration", "turn", "turn.duration"),
        ("command", "command", "control.command"),
        ("notice", "notice", "control.notice"),
    )
)
"""Flags that make one step each, whatever else the record is."""

_ANY_PLAIN: Final = FLAG_BITS["launch_ack"] | _ERROR | sum(bit for bit, _, _ in _PLAIN[2:])
_STEPS: Final = _RESET | _SUMMARY | _INJECTED | _INPUT | _ANY_PLAIN


class StepWriter:
    """Writes the steps of a session's streams."""

    def __init__(
        self,
        draft: Draft,
        placement: Placement,
        grouped: dict[str, Call],
        tools: Tools,
        spawns: Spawns,
    ) -> None:
        self._draft = draft
        self._placement = placement
        self._evidence = placement.evidence
        self._calls = grouped
        self._tools = tools
        self._spawns = spawns

    def write(self) -> None:
        """Every step that is neither a call nor a tool use nor an output."""
        for name, stream in self._evidence.streams.items():
            for record in stream.records:
                if record.flags & _STEPS or record.trigger == "notification":
                    self._write_record(record, name)
                if record.parts:
                    self._write_parts(record, name)

    def parent_of_part(self, record: RecordRow) -> str:
        """The call a record is a fragment of, else the record's container."""
        call = calls.owner(self._calls, record)
        return call.id if call is not None else self._placement.container(record)

    # ---------------------------------------------------------------- whole records

    def _write_record(self, record: RecordRow, stream: str) -> None:
        flags = record.flags
        if flags & _RESET:
            epoch = self._placement.epochs.at(stream, record).id
            self._step("boundary", "epoch.boundary", record, stream, parent=epoch)
            return
        if flags & _SUMMARY:
            self._write_summary(record, stream)
            return
        if record.trigger == "notification":
            self._write_notification(record, stream)
        if flags & _INJECTED:
            self._step("inject", "context.injection", record, stream)
        if flags & _INPUT:
            self._step("input", "message.external", record, stream, _input_attrs(record))
        for bit, prefix, kind in _PLAIN:
            if flags & bit:
                attrs = {"retry_state": "unavailable"} if bit == _ERROR else None
                self._step(prefix, kind, record, stream, attrs)

    def _step(
        self,
        prefix: str,
        kind: str,
        record: RecordRow,
        stream: str,
        attrs: dict[str, Any] | None = None,
        parent: str | None = None,
    ) -> str:
        name = ids.at_record(prefix, record)
        parent = parent if parent is not None else self._placement.container(record)
        self._draft.add(Node(name, 0, kind, parent, stream, ref_of(record), (), attrs or {}))
        return name

    def _write_summary(self, record: RecordRow, stream: str) -> None:
        """A summary belongs to the boundary it hangs from; without one it is injected context."""
        boundary = self._evidence.by_id.get(record.parent) if record.parent is not None else None
        if (
            boundary is None
            or not boundary.flags & _RESET
            or boundary.seq not in self._evidence.stream_of
        ):
            self._step("inject", "context.injection", record, stream)
            return
        epoch = self._placement.epochs.at(stream, record).id
        name = self._step("summary", "epoch.summary", record, stream, parent=epoch)
        self._draft.relate(
            "summarizes",
            name,
            ids.at_record("boundary", boundary),
            quality=EXACT,
            via="containment parent",
            evidence=(ref_of(record), ref_of(boundary)),
        )

    def _write_notification(self, record: RecordRow, stream: str) -> None:
        """A notification reports to the child it names, else to the one child of the call it names."""
        name = ids.at_record("notify", record)
        attrs: dict[str, Any] = {}
        if record.child is not None:
            if record.child in self._evidence.streams:
                self._report(name, record, record.child, EXACT, "task id on the notification")
            else:
                reason = "a notification names this child, and none of its records has landed"
                self._draft.open("notified_child", record.child, reason)
        elif record.tool is not None:
            use = self._tools.named(record.tool, record)
            edges = self._spawns.of_use.get(use.id, []) if use is not None else []
            if len(edges) == 1:
                via = "the call the notification completes"
                self._report(name, record, edges[0].child, STRONG, via)
            elif edges:
                attrs["candidates"] = len(edges)
        self._step("notify", "runtime.notification", record, stream, attrs)

    def _report(self, name: str, record: RecordRow, child: str, quality: str, via: str) -> None:
        target = ids.stream(child)
        self._draft.relate(
            "reports", name, target, quality=quality, via=via, evidence=(ref_of(record),)
        )

    # ---------------------------------------------------------------- parts

    def _write_parts(self, record: RecordRow, stream: str) -> None:
        """Text the agent wrote and reasoning. Every part is looked at: a line may carry several."""
        agent = record.from_ == "agent"
        synthetic = bool(record.flags & _SYNTHETIC)
        parent: str | None = None
        for part in record.parts:
            if part.kind == "text" and (agent or synthetic):
                prefix, kind = "msg", "message.synthetic" if synthetic else "message.assistant"
            elif part.kind == "reasoning":
                prefix, kind = "think", "thinking"
            else:
                continue
            if parent is None:
                parent = self.parent_of_part(record)
            name = ids.at_part(prefix, record, part.block)
            ref = Ref(record.seq, record.row, part.block)
            self._draft.add(Node(name, 0, kind, parent, stream, ref))


def _input_attrs(record: RecordRow) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    if record.trigger is not None:
        attrs["trigger"] = record.trigger
    if record.flags & _INFERRED:
        attrs["quality"] = STRONG
    return attrs
