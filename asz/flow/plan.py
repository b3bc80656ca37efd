"""Where to cut landed evidence so that each round stays near its budget."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from asz.assembly.model import Node, Ref, Relation
from asz.flow.sf import Frame, Frames, encode_frame

ALLOWANCE: Final = 5, 4
"""A round may pass its budget by a quarter; by any amount when it covers one landed file."""

OVERHEAD: Final = 1024
"""Bytes of a header and a commit line, generously."""


def cuts(frames: Frames, seqs: Sequence[int], max_round_bytes: int) -> list[int]:
    """The last sequence of each round.

    Each frame is charged to the landed file of its first reference, where the entity appears. One that
    changed without a reference among the new files is charged to the first of them.

    :param frames: everything that changes over all the new files.
    :param seqs: sequences of the new landed files, ascending, at least one.
    """
    charges: defaultdict[int, int] = defaultdict(int)
    first = seqs[0]
    for frame in frames:
        seq = _first_seq(frame)
        charges[max(seq, first)] += len(encode_frame(frame)) + 1
    found = []
    total = OVERHEAD
    for place, seq in enumerate(seqs):
        charge = charges[seq]
        if place and total + charge > max_round_bytes:
            found.append(seqs[place - 1])
            total = OVERHEAD
        total += charge
    return [*found, seqs[-1]]


def too_big(size: int, max_round_bytes: int, files: int) -> bool:
    """Whether a round must be cut once more."""
    above, below = ALLOWANCE
    return files > 1 and size * below > max_round_bytes * above


def earlier_cut(seqs: Sequence[int], size: int, max_round_bytes: int) -> int:
    """Where to cut a round that came out too big: as many of its files as its size suggests, and fewer
    than it has.

    :param seqs: the landed files it covers, at least two.
    """
    share = len(seqs) * max_round_bytes // size
    return seqs[min(max(share, 1), len(seqs) - 1) - 1]


def _first_seq(frame: Frame) -> int:
    ref: Ref | None = None
    if isinstance(frame, Node):
        ref = frame.ref
    elif isinstance(frame, Relation) and frame.evidence:
        ref = max(frame.evidence, key=lambda each: each.seq)
    return ref.seq if ref is not None else 0
