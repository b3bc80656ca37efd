"""Stage 4: a tool's request and its result, by exact id over the whole session."""

from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.evidence import Evidence
from asz.assembly.model import Node, Ref
from asz.storage.rows import PartRow, RecordRow

JOINED: Final = "exact_unique"
AMBIGUOUS: Final = "exact_ambiguous"
UNRESOLVED: Final = "unresolved"
BY_ORDER: Final = "strong_inference"

Piece = tuple[RecordRow, PartRow]
"""A part and the record it lies in."""


@dataclass(slots=True)
class Use:
    """One tool use."""

    id: str
    """Node id."""
    name: str
    """What an open reference to it is called: its tool-use id, with its place when that repeats."""
    record: RecordRow
    part: PartRow
    results: list[Piece] = field(default_factory=list)
    join: str = UNRESOLVED

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The request, then every result."""
        return (
            Ref(self.record.seq, self.record.row, self.part.block),
            *[Ref(record.seq, record.row, part.block) for record, part in self.results],
        )


@dataclass(slots=True)
class Tools:
    """Every tool use of the session and every result that found none."""

    uses: list[Use]
    by_name: dict[str, list[Use]]
    """By tool-use id; several only for runtimes that count their ids from zero."""
    stray: list[str]
    """Tool-use ids of results without a request."""

    def named(self, name: str, record: RecordRow) -> Use | None:
        """The use with a tool-use id that ``record`` speaks of: of several, the one it answers."""
        uses = self.by_name.get(name, [])
        for use in uses:
            if any(result is record for result, _ in use.results):
                return use
        return uses[0] if uses else None


def join(evidence: Evidence) -> Tools:
    """Join requests and results. Nothing is matched on a prefix or folded in case."""
    requests: defaultdict[str, list[Piece]] = defaultdict(list)
    results: defaultdict[str, list[Piece]] = defaultdict(list)
    for record in evidence.records:
        if not record.parts or record.seq not in evidence.stream_of:
            continue
        for piece in record.parts:
            if piece.kind == "call":
                requests[piece.id or _place(record, piece)].append((record, piece))
            elif piece.kind == "result":
                results[piece.id or _place(record, piece)].append((record, piece))
    tools = Tools([], {}, [])
    for name, pieces in requests.items():
        answers = results.pop(name, [])
        if len(pieces) == 1:
            record, piece = pieces[0]
            uses = [Use(_node_id(name, record, piece), name, record, piece, answers)]
            uses[0].join = (UNRESOLVED, JOINED, AMBIGUOUS)[min(len(answers), 2)]
        else:
            uses = _join_in_order(name, pieces, answers, evidence, tools.stray)
        tools.by_name[name] = uses
        tools.uses += uses
    tools.stray += results
    return tools


def _place(record: RecordRow, piece: PartRow) -> str:
    """Stands for the id of a part that has none, so that it joins nothing."""
    return f"@{record.seq}/{record.row}:{piece.block}"


def _node_id(name: str, record: RecordRow, piece: PartRow) -> str:
    return ids.tool(name) if piece.id else ids.tool("", _place(record, piece))


def _join_in_order(
    name: str, pieces: list[Piece], answers: list[Piece], evidence: Evidence, stray: list[str]
) -> list[Use]:
    """Several requests under one id: a result answers the latest earlier one of its stream that has
    none yet."""
    uses: list[Use] = []
    waiting: defaultdict[str, list[Use]] = defaultdict(list)
    for record, piece in sorted([*pieces, *answers], key=_where):
        stream = evidence.stream_of[record.seq]
        if piece.kind == "call":
            place = _place(record, piece) if uses else ""
            use = Use(ids.tool(name, place), name + place, record, piece)
            uses.append(use)
            waiting[stream].append(use)
        elif waiting[stream]:
            use = waiting[stream].pop()
            use.results.append((record, piece))
            use.join = BY_ORDER
        else:
            stray.append(name)
    return uses


def _where(found: Piece) -> tuple[int, int, int]:
    record, piece = found
    return (record.seq, record.row, piece.block)


def write(
    draft: Draft,
    tools: Tools,
    container: Callable[[RecordRow], str],
    stream_of: Mapping[int, str],
    agents: Container[str],
    workflows: Mapping[str, str],
) -> None:
    """The node of each use, and an open reference for each join that is not one to one.

    :param container: the call, or else the container, of a request record.
    :param agents: node ids of uses that child streams came out of; the tool's name says nothing.
    :param workflows: name of the workflow a use launched, by node id.
    """
    for use in tools.uses:
        attrs = _attrs(use)
        if use.id in workflows:
            attrs["workflow"] = workflows[use.id]
        kind = "agent.call" if use.id in agents else "tool"
        stream, refs = stream_of[use.record.seq], use.refs
        draft.add(Node(use.id, 0, kind, container(use.record), stream, refs[0], refs, attrs))
        if use.join == UNRESOLVED:
            draft.open("tool_result", use.name, "no result for this tool use has landed")
        elif use.join == AMBIGUOUS:
            draft.open("tool_result", use.name, "several results answer this tool use")
    for name in tools.stray:
        draft.open("tool_use", name, "a result answers a tool use that has not landed")


def _attrs(use: Use) -> dict[str, Any]:
    joined = use.join in (JOINED, BY_ORDER)
    attrs: dict[str, Any] = {
        "result": "available" if joined else "unavailable",
        "result_join": use.join,
        "timing": "unavailable",
    }
    if use.part.name is not None:
        attrs["name"] = use.part.name
    if joined and use.results[0][1].failed is not None:
        attrs["failed"] = use.results[0][1].failed
    return attrs
