"""What a tool result says it did to a file, as a ``changes/1`` record.

Claude Code reports it for the results of Edit, Write and NotebookEdit on the main stream. They are known by
what ``toolUseResult`` holds, since a result does not name its tool. Nothing is guessed: content
that the report leaves open has neither size nor digest.
"""

import hashlib
from typing import Any, Final, NamedTuple

import msgspec

from asz_claude_code.convert.content import NULL
from asz_claude_code.convert.hunks import Hunk, computed_hunks, count, given_hunks
from asz_claude_code.convert.lenient import has_surrogate, without_surrogates
from asz_claude_code.convert.paths import relative_to
from asz_claude_code.convert.read import Reader, read_text
from asz_claude_code.convert.shapes import FileResult, Line, Outcome
from asz_hookspecs import Part
from asz_hookspecs.vocabulary import STREAM_MAIN

LARGEST: Final = 1 << 20
"""Bytes of a file beyond which its change is told by digests alone."""

_RESULT: Final = Reader(FileResult)


class _State(NamedTuple):
    """A file before or after."""

    present: bool
    text: str | None = None
    """Its content; ``None`` when it is not known, or there is no file."""

    @property
    def content(self) -> str | None:
        """What a diff compares: nothing for a file that is not there, ``None`` when not known."""
        return self.text if self.present else ""


_ABSENT: Final = _State(False)
_UNKNOWN: Final = _State(True)


def tells_of_a_file(outcome: Outcome) -> bool:
    """Whether a result may be of one of the tools that change a file: it holds a patch or a notebook."""
    return bytes(outcome.structured_patch) != b"" or bytes(outcome.notebook_path) != b""


def changes_part(raw: bytes, answered: Part, line: Line, session: str) -> Part | None:
    """The ``data`` part that says what a result changed; ``None`` when it is no successful result of a
    tool that changes a file, or its record lacks what ``changes/1`` requires.

    :param raw: ``toolUseResult``, a JSON object.
    :param answered: the result part it belongs to.
    :param session: the session whose main transcript holds the record.
    """
    result = _RESULT.piece(raw)
    tool = _tool(result)
    if tool is None or answered.failed or result.error or not answered.of or not line.timestamp:
        return None
    use, cwd = without_surrogates(answered.of), without_surrogates(line.cwd or "")
    record: dict[str, Any] = {
        "schema": "changes/1",
        "id": use,
        "captured_by": "claude-code",
        "session": session,
        "stream": STREAM_MAIN,
        "tool": use,
        "tool_name": tool,
        "time": without_surrogates(line.timestamp),
        "basis": "runtime_reported",
    }
    if cwd:
        record["root"] = {"path": cwd}
    path = without_surrogates(result.notebook_path or result.file_path or "")
    record["changed_files"] = 1
    record["changes"] = [{"path": relative_to(path, cwd), **_change(tool, result)}]
    data = msgspec.json.encode(record)
    return Part("data", data=data, size=len(data))


def _tool(result: FileResult) -> str | None:
    """The name of the tool by what its result holds."""
    if result.notebook_path:
        whole = _is_text(result.original_notebook) or _is_text(result.updated_notebook)
        return "NotebookEdit" if whole else None
    listed = bytes(result.structured_patch)[:1] == b"["
    if not result.file_path or not listed or bytes(result.edits):
        return None
    return "Write" if _is_text(result.content) else "Edit"


def _change(tool: str, result: FileResult) -> dict[str, Any]:
    patch = bytes(result.structured_patch)
    hunks = given_hunks(patch)
    before = _before(tool, result)
    after = _after(tool, result, before, hunks)
    first, second = _side(before), _side(after)
    known = before.content is not None and after.content is not None
    size = max(first["bytes"] or 0, second["bytes"] or 0, 0 if known else len(patch))
    return {
        "operation": "modify" if before.present else "create",
        "before": first,
        "after": second,
        **(_diff(before, after, hunks) if size <= LARGEST else {"diff": "too_large"}),
    }


def _diff(before: _State, after: _State, hunks: list[Hunk]) -> dict[str, Any]:
    """The diff, or why there is none."""
    old, new = before.content, after.content
    shown = (line for hunk in hunks for line in hunk.lines)
    if any("\0" in text for text in (old or "", new or "", *shown)):
        return {"diff": "binary"}
    if not hunks and (old is None or new is None):
        return {"diff": "unavailable"}
    hunks = hunks or computed_hunks(old or "", new or "")
    counted = count(hunks)
    return {
        "diff": "available",
        "additions": counted.additions,
        "deletions": counted.deletions,
        "hunks": hunks,
    }


# ---------------------------------------------------------------- both versions


def _before(tool: str, result: FileResult) -> _State:
    original = result.original_notebook if tool == "NotebookEdit" else result.original_file
    if _is_text(original):
        return _State(True, _text(original))
    none = bytes(original) == NULL
    if tool == "Write" and (result.type == "create" or (none and result.type is None)):
        return _ABSENT
    if tool == "Edit" and none and bytes(result.old_string) == b'""':
        return _ABSENT
    return _UNKNOWN


def _after(tool: str, result: FileResult, before: _State, hunks: list[Hunk]) -> _State:
    if tool == "Write":
        return _State(True, _text(result.content))
    if tool == "NotebookEdit":
        return _State(True, _text(result.updated_notebook))
    old, new = _text(result.old_string), _text(result.new_string)
    content = before.content
    if content is None or old is None or new is None:
        return _UNKNOWN
    return _State(True, _edited(content, old, new, bool(result.replace_all), hunks))


def _edited(content: str, old: str, new: str, every: bool, hunks: list[Hunk]) -> str | None:
    """A content after an edit; ``None`` when the edit does not say what came out of it.

    When text is replaced by nothing, the runtime may take the line end after it away as well. Which it
    did, the patch's count of lines tells.
    """
    if not old:
        return None if content else new
    found = content.count(old)
    if not found or (found > 1 and not every):
        return None
    plain = content.replace(old, new)
    if new or old.endswith("\n") or f"{old}\n" not in content:
        return plain
    grown = sum(hunk.new_lines - hunk.old_lines for hunk in hunks)
    candidates = [plain, content.replace(f"{old}\n", "")]
    fitting = [one for one in candidates if hunks and _height(one) - _height(content) == grown]
    return fitting[0] if len(fitting) == 1 else None


def _height(text: str) -> int:
    """How many lines a text has, the last with or without a line end."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)


def _side(state: _State) -> dict[str, Any]:
    """A version without its content."""
    if state.text is None:
        return {"present": state.present, "bytes": None}
    data = state.text.encode()
    return {
        "present": True,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "no_newline_at_end": bool(data) and not data.endswith(b"\n"),
    }


def _is_text(raw: msgspec.Raw) -> bool:
    return bytes(raw)[:1] == b'"'


def _text(raw: msgspec.Raw) -> str | None:
    """The value of a string; ``None`` for anything else, and for half a pair, which no file holds."""
    if not _is_text(raw):
        return None
    text = read_text(bytes(raw))
    return None if not text.isascii() and has_surrogate(text) else text
