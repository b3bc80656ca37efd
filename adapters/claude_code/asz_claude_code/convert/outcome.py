"""``toolUseResult``: the structured copy of a tool's result beside the content block.

Its shape differs for each tool, and for about 7% of results it is a string. It lands as it stands;
only the fields that join records are read.
"""

from typing import Final

from asz_claude_code.convert.content import NULL, Content, data_part
from asz_claude_code.convert.read import Reader
from asz_claude_code.convert.shapes import Outcome
from asz_claude_code.layout import run_id
from asz_hookspecs import Record

_OUTCOME: Final = Reader(Outcome)
_FORKED: Final = "forked"
_FLAGS: Final = {"async_launched": "launch_ack", "completed": "child_result"}


def add_outcome(raw: bytes, content: Content, record: Record, flags: list[str]) -> None:
    """Put ``toolUseResult`` where it belongs and read its joins.

    :param raw: its raw JSON; empty when the record has none.
    """
    taker = None
    if raw not in (b"", NULL):
        outcome = _OUTCOME.piece(raw)
        taker = _place(raw, outcome.tool_use_id, content)
        if outcome.status != _FORKED:  # a fork names the skill's call, not its own
            record.tool = outcome.tool_use_id or None
        record.child = outcome.agent_id or None
        record.batch = run_id(outcome.run_id) if outcome.run_id else None
        if outcome.status in _FLAGS:
            flags.append(_FLAGS[outcome.status])
    for index, own in content.results.items():
        if index == taker:
            content.beside.append(data_part(own))
        else:
            content.parts[index].data = own


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
