"""Keeping chains up with what lands, session by session, as a collecting pass asks for it."""

import os
from dataclasses import dataclass

from asz.assembly.model import PARSER, POLICY
from asz.flow import state
from asz.flow.chain import ROUNDS, round_names
from asz.flow.parse import MAX_ROUND_BYTES, Parsed, parse
from asz.flow.rules import rules_of
from asz.storage.index import coverage
from asz.storage.root import CONVERSATIONS, Root


@dataclass(frozen=True, slots=True)
class ChainKeeper:
    """Brings chains up to the index; travels to the processes that take turns."""

    max_round_bytes: int = MAX_ROUND_BYTES

    def mark(self, root: Root, session: str) -> str:
        """What of a chain can be seen from outside, and the rules of this asz."""
        directory = f"{root.path}/{CONVERSATIONS}/{session}"
        return f"{PARSER} {POLICY} {_look(f'{directory}/{state.FILE}')} {_look(f'{directory}/{ROUNDS}')}"

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


def _look(path: str) -> str:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return "-"
    return f"{found.st_size}.{found.st_mtime_ns}.{found.st_ino}"
