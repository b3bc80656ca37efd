"""Hunks of a change: those the runtime wrote, or computed from two versions of a file."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

import msgspec

from asz_claude_code.convert.read import REFUSED
from asz_claude_code.convert.shapes import Count

_CONTEXT: Final = 3
"""Unchanged lines around a change, as many as the runtime shows."""
_LONGEST: Final = 2000
"""Lines that are compared one by one, of both versions together; the time grows with their square."""
_NO_NEWLINE: Final = "\\ No newline at end of file"

Group = Sequence[tuple[str, int, int, int, int]]
"""Operations on ranges of lines of both versions, as ``difflib`` gives them."""


class Hunk(msgspec.Struct, gc=False):
    """One hunk as ``changes/1`` writes it."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


class _Given(msgspec.Struct, rename="camel", gc=False):
    """One hunk as Claude Code writes it."""

    old_start: Count
    old_lines: Count
    new_start: Count
    new_lines: Count
    lines: list[str]


_GIVEN: Final = msgspec.json.Decoder(list[_Given])


class Counted(NamedTuple):
    """Lines that a change added and took away."""

    additions: int
    deletions: int


def given_hunks(raw: bytes) -> list[Hunk]:
    """The hunks of a ``structuredPatch``; none when it is not what the runtime writes."""
    try:
        given = _GIVEN.decode(raw)
    except REFUSED:
        return []
    return [Hunk(h.old_start, h.old_lines, h.new_start, h.new_lines, h.lines) for h in given]


def count(hunks: Sequence[Hunk]) -> Counted:
    """How many lines the hunks add and take away."""
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return Counted(signs.count("+"), signs.count("-"))


def computed_hunks(before: str, after: str) -> list[Hunk]:
    """The hunks that lead from one version to the other; none when they are equal.

    Between the first and the last line that differ, versions of many lines are not compared line by
    line: all of one is taken away and all of the other added.
    """
    old, new = _lines(before), _lines(after)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    if head == len(old) == len(new):
        return []
    start, rest = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    old, new = old[start : len(old) - rest], new[start : len(new) - rest]
    groups: Iterable[Group]
    if len(old) + len(new) > _LONGEST:
        groups = [_replaced(len(old), len(new), head - start, tail - rest)]
    else:
        groups = SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
    return [_hunk(group, old, new, start) for group in groups]


def _lines(text: str) -> list[str]:
    """The lines of a text with their line feeds; only the last may lack one."""
    *whole, rest = text.split("\n")
    lines = [line + "\n" for line in whole]
    return [*lines, rest] if rest else lines


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines from the start on are equal."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))


def _replaced(old: int, new: int, head: int, tail: int) -> Group:
    """One replacement of all lines between ``head`` equal ones before it and ``tail`` after."""
    return [
        ("equal", 0, head, 0, head),
        ("replace", head, old - tail, head, new - tail),
        ("equal", old - tail, old, new - tail, new),
    ]


def _hunk(group: Group, old: list[str], new: list[str], start: int) -> Hunk:
    """A hunk of a group of changes; an empty side begins at the line before it, as in any diff."""
    old_at, old_end = group[0][1], group[-1][2]
    new_at, new_end = group[0][3], group[-1][4]
    lines: list[str] = []
    for kind, a, b, c, d in group:
        if kind == "equal":
            lines += _signed(" ", old[a:b])
            continue
        lines += _signed("-", old[a:b])
        lines += _signed("+", new[c:d])
    return Hunk(
        start + old_at + (old_end > old_at),
        old_end - old_at,
        start + new_at + (new_end > new_at),
        new_end - new_at,
        lines,
    )


def _signed(sign: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE
