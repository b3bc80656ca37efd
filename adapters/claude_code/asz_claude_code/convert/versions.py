"""What older versions of Claude Code did not write, and the records themselves still show.

Measured on public transcripts of versions 1.0 to 2.1: run ids came with 2.1.76, the origin of a typed
prompt with 2.1.200. What is read here instead is marked with the flag ``inferred``.
"""

import re
from functools import lru_cache
from typing import Final

from asz_claude_code.convert.shapes import Line
from asz_hookspecs import Part, Record

Version = tuple[int, int, int]

RUN_IDS: Final[Version] = (2, 1, 76)
ORIGINS: Final[Version] = (2, 1, 200)

_NUMBERS: Final = re.compile(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", re.ASCII)
_FROM_RUNTIME: Final = (
    "<local-command-",
    "<bash-std",
    "<task-notification",
    "<teammate-message",
    "[Request interrupted",
)
"""How texts begin that the runtime writes in the user role."""
_COMMANDS: Final = ("<command-", "<bash-input")
"""How records of a person's local command begin: a run of their own, but nothing said."""


@lru_cache(maxsize=256)
def before(version: str | None, limit: Version) -> bool:
    """Whether a record was written before ``limit``: its version is lower or, as in the oldest
    files, absent. A version of another form is a later one."""
    if version is None:
        return True
    match = _NUMBERS.match(version)
    return match is not None and tuple(int(number or 0) for number in match.groups()) < limit


def infer_prompt(line: Line, record: Record, parts: list[Part], flags: list[str]) -> None:
    """On the main stream: let a prompt of an older version open a run, and be what a person said."""
    opens_run = record.run is None and record.id is not None and before(line.version, RUN_IDS)
    typed = record.trigger is None and line.origin is None and before(line.version, ORIGINS)
    if line.type != "user" or not (opens_run or typed):
        return
    if line.is_meta or line.is_compact_summary or line.is_sidechain:
        return
    text = _prompt(parts)
    if text is None or text.startswith(_FROM_RUNTIME):
        return
    typed = typed and not text.startswith(_COMMANDS)
    if opens_run:
        record.run = record.id
    if typed:
        flags.append("external_input")
    if opens_run or typed:
        flags.append("inferred")


def infer_child_run(line: Line, record: Record, flags: list[str]) -> None:
    """On a child stream: let its first record open the run that all of it belongs to."""
    if record.run is None and before(line.version, RUN_IDS):
        record.run = record.id
        flags.append("inferred")


def _prompt(parts: list[Part]) -> str | None:
    """The text of a prompt, empty for a picture alone; ``None`` when this is no prompt."""
    kinds = {part.k for part in parts}
    if "result" in kinds or not kinds & {"text", "media"}:
        return None
    return next((part.text for part in parts if part.k == "text" and part.text), "")
