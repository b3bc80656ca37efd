"""Proving a storage root: every digest, every chain, every gap. Reads only, and needs no index.

A root that was copied from another machine verifies like the one it was copied from.
"""

from collections.abc import Iterator

from asz.storage.root import Root
from asz.verify.landed import LandedCheck
from asz.verify.problem import Problem, Tally
from asz.verify.rounds import ChainCheck

__all__ = ["Problem", "Tally", "verify"]


def verify(root: Root, session: str | None = None, tally: Tally | None = None) -> Iterator[Problem]:
    """Every problem of one session and its conversation, or of all of them, as they are found.

    :param tally: counts what was looked at.
    :raises NotFoundError: ``session`` cannot be an id.
    """
    counted = tally if tally is not None else Tally()
    names = [session] if session is not None else sorted({*root.sessions(), *root.conversations()})
    for name in names:
        landed = LandedCheck(root, name, counted)
        try:
            yield from landed.problems()
            yield from ChainCheck(root, name, landed, counted).problems()
        except OSError as error:
            yield Problem(f"{error.filename}: cannot be read: {error.strerror}", name)
