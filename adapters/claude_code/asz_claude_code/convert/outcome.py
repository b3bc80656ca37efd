"""``toolUseResult``: the structured copy of a tool's result beside the content block.

Its shape differs for each tool, and for about 7% of results it is a string. It lands as it stands;
only the fields that join records are read.
"""

from typing import Final

from asz_claude_code.convert.content import NULL, Content, data_part
from asz_claude_code.convert.read import Reader
from asz_claude_code.convert.shapes import Outcome
from asz_claude_code.layout import run_id
from asz_hookspecs import Part, Record

_OUTCOME: Final = Reader(Outcome)
_FORKED: Final = "forked"
_FLAGS: Final = {"async_launched": "launch_ack", "completed": "child_result"}


def read_outcome(raw: bytes, record: Record, flags: list[str]) -> Outcome | None:
    """Read the joins a result states; they win over those of a notification.

    :param raw: its raw JSON; empty when the record has none.
    """
    if raw in (b"", NULL):
        return None
    outcome = _OUTCOME.piece(raw)
    if outcome.status != _FORKED:  # a fork names the skill's call, not its own
        record.tool = outcome.tool_use_id or record.tool
    record.child = outcome.agent_id or record.child
    record.batch = run_id(outcome.run_id) if outcome.run_id else None
    if outcome.status in _FLAGS:
        flags.append(_FLAGS[outcome.status])
    return outcome


def place_outcome(raw: bytes, outcome: Outcome | None, content: Content) -> Part | None:
    """Put it where it belongs; a result's own content that is not text alone comes beside it, or
    takes the place when there is no outcome. Returns the part that took it."""
    taker = _place(raw, outcome.tool_use_id, content) if outcome is not None else None
    for index, own in content.results.items():
        if index == taker:
            content.beside.append(data_part(own))
        else:
            content.parts[index].data = own
    return None if taker is None else content.parts[taker]


def _place(raw: bytes, tool: str | None, content: Content) -> int | None:
    """Give the result part it belongs to its data: the one it names, else the first; without any it
    travels beside the content. Returns the position of that part."""
    results = [index for index, part in enumerate(content.parts) if part.k == "result"]
    if not results:
        content.beside.append(data_part(raw))
        return None
    named = (index for index in results if tool is not None and content.parts[index].of == tool)
    index = next(named, results[0])
    part = content.parts[index]
    part.data = raw
    part.size = part.size or len(raw)
    return index
