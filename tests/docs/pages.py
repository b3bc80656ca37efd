"""The pages of the documentation, taken apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^(?:[^\n]*)`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[Path]:
    """Every page of the checkout."""
    return [
        *sorted(CHECKOUT.glob("*.md")),
        *sorted(DOCS.rglob("*.md")),
        *sorted(CHECKOUT.glob("adapters/*/*.md")),
    ]


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    """A page without its code blocks."""
    return _FENCE.sub("", text)


def headings(text: str) -> list[str]:
    return _HEADING.findall(prose(text))


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next of its level."""
    level = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert level is not None, heading
    below = text[level.end() :]
    end = re.search(rf"^#{{1,{len(level[1])}}} ", below, re.MULTILINE)
    return below[: end.start()] if end else below


def links(text: str) -> list[str]:
    return _LINK.findall(prose(text))


def anchor(heading: str) -> str:
    """What a heading is linked to by."""
    plain = heading.replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def named_blocks(text: str) -> dict[str, str]:
    """Code blocks that a line ending in a file's name introduces, by that name."""
    return dict(_NAMED.findall(text))


def first_column(text: str) -> Iterator[tuple[str, ...]]:
    """Cells of every table row whose first cell is one name in backquotes."""
    for line in prose(text).splitlines():
        if line.startswith("| `"):
            cells = tuple(cell.strip() for cell in line.strip("|").split(" | "))
            if re.fullmatch(r"`[^`]+`", cells[0]):
                yield (cells[0].strip("`"), *cells[1:])


@dataclass(frozen=True, slots=True)
class Command:
    """A command a page shows, and what the page says it prints."""

    line: str
    output: list[str]


def commands(text: str) -> list[Command]:
    """The commands of every console block, in order."""
    found: list[Command] = []
    for language, body in _FENCE.findall(text):
        if language != "console":
            continue
        for line in body.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:], []))
            else:
                found[-1].output.append(line)
    return found
