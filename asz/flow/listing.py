"""The list of conversations, from caches and round headers; no round is read whole for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from asz.assembly.model import Tokens
from asz.errors import FormatError
from asz.flow import chain, sf, state
from asz.flow.chain import RoundName
from asz.flow.rules import rules_of
from asz.flow.sf import RoundHeader
from asz.storage.landed import landed_names
from asz.storage.root import Root

ChainState = Literal["current", "behind", "outdated", "unparsed", "purged", "broken"]


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation. Times are RFC 3339."""

    id: str
    state: ChainState
    """``current``: the chain covers all that landed. ``behind``: more has landed, or ``unparsed``:
    nothing is assembled yet; ``asz parse`` does it. ``outdated``: older rules assembled it, the next pass
    does it anew. ``purged``: its landed files are gone.
    ``broken``: a round is missing, or something cannot be read."""
    title: str | None = None
    from_time: str | None = None
    through_time: str | None = None
    talks: int = 0
    steps: int = 0
    streams: int = 0
    segments: int = 0
    unresolved: int = 0
    """Open references."""
    rounds: int = 0
    tokens: Tokens | None = None
    """Sums over finished calls; ``None`` when no cache holds them."""


def conversations(root: Root) -> list[ConversationRow]:
    """Every conversation, and every session that has none yet; the one that was active last first."""
    return sorted(_rows(root), key=lambda row: (row.through_time or "", row.id), reverse=True)


def _rows(root: Root) -> Iterator[ConversationRow]:
    for name in sorted({*root.sessions(), *root.conversations()}):
        try:
            rounds = chain.round_names(root.conversation_dir(name))
            if rounds:
                yield _row(root, name, rounds)
            elif landed_names(root.session_dir(name)):
                yield ConversationRow(name, "unparsed")
        except OSError:
            yield ConversationRow(name, "broken")


def _row(root: Root, name: str, rounds: list[RoundName]) -> ConversationRow:
    head = rounds[-1]
    known = state.load(root.conversation_dir(name), head)
    header: RoundHeader | None = known.head if known is not None else None
    if header is None:
        try:
            header = sf.read_header(head.path)
        except FormatError:
            return ConversationRow(name, "broken", rounds=len(rounds))
    landed = landed_names(root.session_dir(name))
    standing: ChainState = "current"
    if [each.number for each in rounds] != list(range(1, len(rounds) + 1)):
        standing = "broken"
    elif not landed:
        standing = "purged"
    elif landed[-1].seq > header.through_seq:
        standing = "behind"
    elif rules_of(header) == "older":
        standing = "outdated"
    return ConversationRow(
        id=name,
        state=standing,
        title=header.title,
        from_time=header.session_from_time,
        through_time=header.session_through_time,
        talks=header.talks,
        steps=header.steps,
        streams=header.streams,
        segments=header.segments,
        unresolved=header.unresolved,
        rounds=len(rounds),
        tokens=known.tokens if known is not None else None,
    )
