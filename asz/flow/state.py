"""``conversation.state``: a cache of the chain's head and of what lists show. It can be deleted at any
time, is outside every digest, and is not believed when the head on disk is another."""

from pathlib import Path
from typing import Final

import msgspec

from asz.assembly.model import Tokens
from asz.flow.chain import RoundName
from asz.flow.sf import RoundHeader
from asz.storage.files import replace
from asz.storage.index import Coverage
from asz.storage.steps import Step

FILE: Final = "conversation.state"
FORMAT: Final = "asz-conversation-state/1"


class ConversationState(msgspec.Struct):
    """What the cache holds."""

    format: str
    digest: str
    """Of the head round's commit line."""
    head: RoundHeader
    tokens: Tokens | None
    """Sums over finished calls; they are not in the rounds themselves."""
    landed: str = ""
    """Digest of the index's coverage the chain was last found to agree with."""

    def agrees(self, landed: Coverage) -> bool:
        """Whether the chain covers what is indexed now, and those very files."""
        return (self.head.through_seq, self.landed) == landed


_DECODER: Final = msgspec.json.Decoder(ConversationState)


def save(
    conversation_dir: Path, head: RoundHeader, digest: str, tokens: Tokens | None, landed: str
) -> None:
    """Write the cache. The caller holds the chain's lock."""
    state = ConversationState(FORMAT, digest, head, tokens, landed)
    replace(conversation_dir / FILE, msgspec.json.encode(state), Step.STATE_SAVE)


def load(conversation_dir: Path, head: RoundName | None) -> ConversationState | None:
    """The cache, when it can be read and is of the round ``head``."""
    if head is None:
        return None
    try:
        state = _DECODER.decode((conversation_dir / FILE).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    if state.format != FORMAT or state.head.round != head.number:
        return None
    return state if state.digest.startswith(head.digest) else None
