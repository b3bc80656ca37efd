"""Keeping chains up with what lands, session by session, as a collecting pass asks for it."""

from dataclasses import dataclass

from asz.flow import state
from asz.flow.chain import round_names
from asz.flow.parse import MAX_ROUND_BYTES, parse
from asz.storage.index import coverage
from asz.storage.root import Root


@dataclass(frozen=True, slots=True)
class ChainKeeper:
    """Brings chains up to the index; travels to the processes that take turns."""

    max_round_bytes: int = MAX_ROUND_BYTES

    def behind(self, root: Root, session: str) -> bool:
        """Whether a session's chain does not cover what is indexed, as far as the cache tells."""
        landed = coverage(root.session_dir(session))
        directory = root.conversation_dir(session)
        try:
            names = round_names(directory)
        except OSError:
            return True  # parsing it says why
        known = state.load(directory, names[-1] if names else None)
        return landed.through_seq > 0 and (known is None or not known.agrees(landed))

    def assemble(self, root: Root, session: str) -> int:
        """Bring a session's chain up to its index; how many rounds were written.

        :raises AszError: the chain cannot be extended, or another process is at it.
        """
        done = parse(root, session, max_round_bytes=self.max_round_bytes, trust_cache=True)
        return done.rounds_written
