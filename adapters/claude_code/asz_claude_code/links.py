"""Symbolic links among Claude Code's files: followed inside the source root, once, and never out of
it."""

import os
from pathlib import PurePath
from typing import Literal, NamedTuple

EntryKind = Literal["file", "directory"]


class Verdict(NamedTuple):
    """What a link leads to."""

    kind: EntryKind | None = None
    """What to read there; ``None``: nothing."""
    problem: str | None = None
    """Why it is not followed although something may be there."""
    note: str | None = None
    """Why it need not be followed."""


def follow(path: str, real_root: str) -> Verdict:
    """Judge a symbolic link.

    :param path: absolute path of the link, below the source root.
    :param real_root: the source root, itself without links.
    :raises OSError: the way to the link cannot be looked at.
    """
    holder = os.path.realpath(os.path.dirname(path))  # noqa: PTH120 - the lexical parent is meant
    try:
        target = os.path.realpath(path, strict=True)
    except FileNotFoundError:
        return Verdict()
    except OSError as error:
        return Verdict(problem=f"the link cannot be followed: {error.strerror}")
    if PurePath(holder).is_relative_to(target):
        return Verdict(problem="the link is a loop: it leads to a directory it lies in")
    if not PurePath(target).is_relative_to(real_root):
        return Verdict(problem="the link leads out of the source root; add its target as a root")
    if _same_place(PurePath(path).name, holder, target, real_root):
        return Verdict(note="the link is a second name for what is read at its target")
    if os.path.isdir(target):  # noqa: PTH112 - one check on a string, no object
        return Verdict("directory")
    return Verdict("file" if os.path.isfile(target) else None)  # noqa: PTH113


def _same_place(name: str, holder: str, target: str, real_root: str) -> bool:
    """Whether the target is found anyway: it has the link's place in another project directory."""
    own = (PurePath(holder) / name).relative_to(real_root).parts
    other = PurePath(target).relative_to(real_root).parts
    return len(own) == len(other) and own[1:] == other[1:]
