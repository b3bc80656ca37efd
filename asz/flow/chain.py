"""The chain of rounds of one conversation: which rounds there are, and whether each continues the last."""

import hashlib
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asz.errors import FormatError
from asz.flow import sf
from asz.flow.sf import Round, RoundHeader
from asz.storage.files import write_once
from asz.storage.steps import Step

ROUNDS: Final = "rounds"
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class RoundName:
    """A round by its file name alone."""

    number: int
    digest: str
    """First digits of its commit digest."""
    path: Path


def round_names(conversation_dir: Path) -> list[RoundName]:
    """Every round of a conversation by number; other files are not looked at."""
    directory = conversation_dir / ROUNDS
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for name in names:
        match = sf.FILE_NAME.match(name)
        if match:
            found.append(RoundName(int(match["round"]), match["digest"], directory / name))
    return sorted(found, key=lambda item: (item.number, item.digest))


@dataclass(slots=True)
class Chain:
    """The rounds of a conversation, as far as they hold together."""

    rounds: list[Round]
    problem: str | None
    """Why ``rounds`` ends before the last one on disk; ``None`` when it does not."""


def read_chain(conversation_dir: Path) -> Chain:
    """Read and check a chain. A missing or broken round ends it there: that is something to show beside
    what came before, not an error."""
    chain = Chain([], None)
    for place, name in enumerate(round_names(conversation_dir), 1):
        chain.problem = _extend(chain.rounds, place, name)
        if chain.problem is not None:
            break
    return chain


def _extend(rounds: list[Round], place: int, name: RoundName) -> str | None:
    """Add the round with a name at a place of the chain, or say why it does not go there."""
    if name.number > place:
        return f"{name.path.parent}: round {place} is missing"
    if name.number < place:
        return f"{name.path}: round {name.number} is there twice"
    try:
        round_ = sf.read_round(name.path)
    except FormatError as error:
        return str(error)
    before = rounds[-1] if rounds else None
    for problem in (*name_problems(name, round_), *link_problems(before, round_)):
        return f"{name.path}: {problem}"
    rounds.append(round_)
    return None


def name_problems(name: RoundName, round_: Round) -> Iterator[str]:
    """Where a round and its file name differ."""
    if not round_.digest.startswith(name.digest):
        yield "the file name holds another digest than the commit line"
    if round_.header.round != name.number:
        yield f"the header says round {round_.header.round}"


def link_problems(before: Round | None, round_: Round) -> Iterator[str]:
    """What is wrong with a round as the one after ``before``, without looking at landed files."""
    header = round_.header
    if header.through_seq < header.from_seq:
        yield f"covers no sequence: {header.from_seq} to {header.through_seq}"
    if before is None:
        if header.previous is not None or header.from_seq != 1:
            yield "does not begin a chain"
        return
    last = before.header
    if header.previous != before.digest:
        yield f"does not name round {last.round} as the one before it"
    if header.from_seq != last.through_seq + 1:
        yield f"begins at sequence {header.from_seq}, the round before ends at {last.through_seq}"
    if (header.conversation, header.session) != (last.conversation, last.session):
        yield "belongs to another conversation than the round before it"


def input_digest(previous: str, digests: Iterable[str]) -> str:
    """Digest over all evidence a chain consumed.

    :param previous: the ``input_digest`` of the round before, empty on the first.
    :param digests: of each newly consumed landed file, whole, in any order.
    """
    total = hashlib.sha256(previous.encode("ascii"))
    for digest in sorted(digests):
        total.update(b"\0" + digest.encode("ascii"))
    return total.hexdigest()


def evidence_problem(header: RoundHeader, previous: str, landed: Mapping[int, str]) -> str | None:
    """What is wrong with the landed files a round consumed.

    :param previous: the ``input_digest`` of the round before, empty on the first.
    :param landed: digest of each landed file by sequence.
    """
    consumed = range(header.from_seq, header.through_seq + 1)
    held = [landed[seq] for seq in consumed if seq in landed]
    if input_digest(previous, held) == header.input_digest:
        return None
    missing = missing_sequences(header, landed)
    if missing:
        return f"consumed landed files that are not there: sequence {missing}"
    return f"consumed other bytes than landed files {header.from_seq} to {header.through_seq} hold"


def missing_sequences(header: RoundHeader, landed: Container[int]) -> str:
    """The sequences a round covers and no landed file has, as ``4, 7``; empty when none is missing."""
    consumed = range(header.from_seq, header.through_seq + 1)
    missing = [str(seq) for seq in consumed if seq not in landed]
    more = ", …" if len(missing) > _SHOWN else ""
    return ", ".join(missing[:_SHOWN]) + more


def append(conversation_dir: Path, number: int, data: bytes, digest: str) -> None:
    """Write one round; durable and visible when this returns. The caller holds the chain's lock."""
    write_once(
        conversation_dir / ROUNDS,
        sf.file_name(number, digest),
        data,
        Step.ROUND_WRITE,
        Step.ROUND_INSTALL,
    )
