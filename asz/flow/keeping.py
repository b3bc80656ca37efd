"""Keeping chains up with what lands, session by session, as a collecting pass asks for it."""

from dataclasses import dataclass

from asz.flow import state
from asz.flow.chain import round_names
from asz.flow.parse import MAX_ROUND_BYTES, Parsed, parse
from asz.flow.rules import rules_of
from asz.storage.index import coverage
from asz.storage.root import Root


@dataclass(frozen=True, slots=True)
class ChainKeeper:
    """Brings chains up to the index; travels to the processes that take turns."""

    max_round_bytes: int = MAX_ROUND_BYTES

    def behind(self, root: Root, session: str) -> bool:
        """Whether a session's chain does not cover what is indexed, or older rules made it, as far as the
        cache tells."""
        landed = coverage(root.session_dir(session))
        directory = root.conversation_dir(session)
        try:
            names = round_names(directory)
        except OSError:
            return True  # parsing it says why
        known = state.load(directory, names[-1] if names else None)
        if landed.through_seq == 0:
            return False
        return known is None or not known.agrees(landed) or rules_of(known.head) != "same"

    def assemble(self, root: Root, session: str) -> Parsed:
        """Bring a session's chain up to its index.

        :raises AszError: the chain cannot be extended, or another process is at it.
        """
        return parse(root, session, max_round_bytes=self.max_round_bytes, trust_cache=True)
