"""Session Flow, ``sf/1``: one round as a file of JSON lines (docs/session-flow.md).

A header, then node, relation and unresolved frames, each kind sorted by id in code point order, then
one commit line with the digest of everything before it.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec

from asz.assembly.model import Node, Relation, Unresolved
from asz.errors import FormatError
from asz.storage.files import read_first_line, read_whole

SCHEMA: Final = "sf/1"
NAME_DIGITS: Final = 12
"""Digits of the commit digest in a round's file name."""

FILE_NAME: Final = re.compile(rf"^r(?P<round>\d{{6,}})-(?P<digest>[0-9a-f]{{{NAME_DIGITS}}})\.sf$")

Frame = Node | Relation | Unresolved


class RoundHeader(msgspec.Struct, tag_field="t", tag="header", kw_only=True, omit_defaults=True):
    """First line of a round. Times are record times, RFC 3339; none is a wall clock's."""

    schema: str
    conversation: str
    session: str
    round: int
    previous: str | None = None
    """Digest of the round before; absent on the first."""
    from_seq: int
    through_seq: int
    input_digest: str
    parser: str
    policy: str
    from_time: str | None = None
    """Earliest record time among the landed files this round consumed; ``through_time`` the latest."""
    through_time: str | None = None
    session_from_time: str | None = None
    session_through_time: str | None = None
    title: str | None = None
    talks: int
    steps: int
    streams: int
    segments: int
    unresolved: int


class Counts(msgspec.Struct, frozen=True):
    """Frames in a round, removals included."""

    nodes: int
    relations: int
    unresolved: int


class Commit(msgspec.Struct, tag_field="t", tag="commit"):
    """Last line of a round."""

    digest: str
    counts: Counts


@dataclass(slots=True)
class Frames:
    """The frames of one round, each kind sorted by id."""

    nodes: list[Node] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)

    def __iter__(self) -> Iterator[Frame]:
        yield from self.nodes
        yield from self.relations
        yield from self.unresolved

    @property
    def counts(self) -> Counts:
        """How many of each kind."""
        return Counts(len(self.nodes), len(self.relations), len(self.unresolved))

    def sort(self) -> None:
        """Put each kind in the order the format asks for."""
        for frames in (self.nodes, self.relations, self.unresolved):
            frames.sort(key=_id_of)


@dataclass(slots=True)
class Round:
    """One round that was read whole and whose commit line holds."""

    header: RoundHeader
    frames: Frames
    digest: str
    """Of its commit line; the next round names it."""


_ENCODER: Final = msgspec.json.Encoder(order="deterministic")
_HEADER: Final = msgspec.json.Decoder(RoundHeader)
_COMMIT: Final = msgspec.json.Decoder(Commit)
_FRAMES: Final = msgspec.json.Decoder(Frame)


def encode_frame(frame: Frame) -> bytes:
    """One frame without line end, its attribute keys in code point order."""
    return _ENCODER.encode(frame)


def encode_round(header: RoundHeader, frames: Frames) -> tuple[bytes, str]:
    """The bytes of a round and the digest of its commit line.

    :param frames: each kind sorted by id.
    """
    body = _ENCODER.encode_lines([header, *frames])
    digest = hashlib.sha256(body).hexdigest()
    return body + _ENCODER.encode(Commit(digest, frames.counts)) + b"\n", digest


def file_name(number: int, digest: str) -> str:
    """Name of a round's file."""
    return f"r{number:06d}-{digest[:NAME_DIGITS]}.sf"


def read_header(path: Path) -> RoundHeader:
    """The header of a round alone, for lists; its digest is not checked.

    :raises FormatError: there is none, or it cannot be read.
    """
    return _decode_header(path, read_first_line(path))


def read_round(path: Path) -> Round:
    """A round, whole.

    :raises FormatError: it is not readable, cut, changed, or its frames are out of order. The message
        names the file.
    """
    return decode_round(path, read_whole(path))


def decode_round(path: Path, data: bytes) -> Round:
    """A round from its bytes.

    :param path: named in messages.
    :raises FormatError: as ``read_round``.
    """
    body, commit = _split(path, data)
    if commit.digest != hashlib.sha256(body).hexdigest():
        raise FormatError(f"{path}: digest does not match, the round was changed")
    head, _, rest = body.partition(b"\n")
    header = _decode_header(path, head)
    frames = Frames()
    try:
        for frame in _FRAMES.decode_lines(rest):
            if isinstance(frame, Node):
                frames.nodes.append(frame)
            elif isinstance(frame, Relation):
                frames.relations.append(frame)
            else:
                frames.unresolved.append(frame)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: a line is no {SCHEMA} frame: {error}") from error
    if frames.counts != commit.counts:
        raise FormatError(f"{path}: the commit line counts other frames than the round holds")
    _check_order(path, frames, rest)
    return Round(header, frames, commit.digest)


def _split(path: Path, data: bytes) -> tuple[bytes, Commit]:
    """Everything before the commit line, and that line."""
    start = data.rfind(b"\n", 0, -1) + 1
    if start == 0 or not data.endswith(b"\n"):
        raise FormatError(f"{path}: no commit line, the round is cut")
    try:
        return data[:start], _COMMIT.decode(data[start:])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: no commit line, the round is cut") from error


def _decode_header(path: Path, line: bytes) -> RoundHeader:
    try:
        header = _HEADER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: no {SCHEMA} header: {error}") from error
    if header.schema != SCHEMA:
        raise FormatError(f"{path}: not an {SCHEMA} file but {header.schema!r}")
    return header


def _check_order(path: Path, frames: Frames, body: bytes) -> None:
    """Nodes, then relations, then unresolved entries, each kind by id, no id twice."""
    kinds: tuple[Sequence[Frame], ...] = (frames.nodes, frames.relations, frames.unresolved)
    for found in kinds:
        names = [frame.id for frame in found]
        if any(a >= b for a, b in pairwise(names)):
            raise FormatError(f"{path}: frames are not sorted by id")
    lines = iter(body.split(b"\n"))
    for tag, found in zip((b"node", b"relation", b"unresolved"), kinds, strict=True):
        start = b'{"t":"%b"' % tag
        if not all(next(lines).startswith(start) for _ in found):
            raise FormatError(f"{path}: frames are not in the order nodes, relations, unresolved")


def _id_of(frame: Frame) -> str:
    return frame.id
