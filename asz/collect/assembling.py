"""Assembling a session after its turn, and telling cheaply whether there is anything to assemble."""

from asz.collect.work import Limits
from asz.flow import state
from asz.flow.chain import round_names
from asz.flow.parse import parse
from asz.storage.index import coverage
from asz.storage.root import Root


def behind(root: Root, session: str) -> bool:
    """Whether a session's chain does not cover what is indexed, as far as the chain's cache tells."""
    landed = coverage(root.session_dir(session))
    directory = root.conversation_dir(session)
    try:
        names = round_names(directory)
    except OSError:
        return True  # parsing it says why
    known = state.load(directory, names[-1] if names else None)
    return landed.through_seq > 0 and (known is None or not known.agrees(landed))


def assemble(root: Root, session: str, limits: Limits) -> int:
    """Bring a session's chain up to its index; how many rounds were written.

    :raises AszError: the chain cannot be extended, or another process is at it.
    """
    parsed = parse(root, session, max_round_bytes=limits.max_round_bytes, trust_cache=True)
    return parsed.rounds_written
