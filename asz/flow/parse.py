"""Parsing a session: assemble what has landed and append what is new to the chain."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asz.assembly.assemble import assemble, between, through, times, without_gc
from asz.assembly.model import PARSER, POLICY, Structure, Tokens
from asz.errors import BusyError, ChainError, FormatError, NotFoundError
from asz.flow import chain, plan, sf, state
from asz.flow.delta import difference
from asz.flow.fold import Folded, fold
from asz.flow.rules import rules_of
from asz.flow.sf import Round, RoundHeader
from asz.storage import index
from asz.storage.files import make_directory, remove_temporaries, sync
from asz.storage.index import Coverage
from asz.storage.landed import landed_names
from asz.storage.locks import hold
from asz.storage.root import CONVERSATIONS, Root
from asz.storage.rows import SessionRows
from asz.storage.steps import Step, step
from asz.storage.times import format_ns

MAX_ROUND_BYTES: Final = 2 << 20
"""Default budget of one round."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parse did."""

    session: str
    rounds_written: int
    rounds: int
    """Rounds of the chain now."""
    through_seq: int
    """Landed sequence the chain covers now."""
    problem: str | None = None
    """Why the index could not be brought up to the disk, when a landed file is damaged. What lies
    before that file was parsed."""
    renewed: bool = False
    """Whether the chain was of older rules, so that it was set aside and begun again."""


def parse(
    root: Root,
    session: str,
    *,
    max_round_bytes: int = MAX_ROUND_BYTES,
    rebuild: bool = False,
    trust_cache: bool = False,
) -> Parsed:
    """Bring a session's chain up to what has landed. A chain of older rules is set aside and begun again,
    over the same landed files.

    :param max_round_bytes: budget of one round.
    :param rebuild: set the rounds aside and begin a new chain.
    :param trust_cache: leave the rounds unread when the cache says that they cover all that landed.
    :raises NotFoundError: no such session.
    :raises BusyError: another process parses it.
    :raises ChainError: the chain does not verify, a newer asz wrote it, or it is ahead of the index.
    """
    session_dir = root.session_dir(session)
    if not session_dir.is_dir():
        raise NotFoundError(f"no session {session}: nothing of it has landed")
    directory = root.conversation_dir(session)
    if not directory.exists() and not landed_names(session_dir):
        return Parsed(session, 0, 0, 0)
    make_directory(root.path / CONVERSATIONS)
    make_directory(directory)
    with hold(directory / ".lock"):
        problem = _refresh(session_dir)
        if rebuild:
            _set_aside(directory)
        landed = index.coverage(session_dir)
        covered = landed.through_seq
        names = chain.round_names(directory)
        head = names[-1] if names else None
        known = state.load(directory, head)
        if known is not None and rules_of(known.head) == "same" and known.agrees(landed):
            if not trust_cache:
                _sound_chain(directory, session)
            return Parsed(session, 0, len(names), covered, problem)
        writer = _Writer(session, session_dir, directory, max_round_bytes)
        with without_gc():
            written = writer.run(landed)
        return Parsed(session, written, writer.rounds, covered, problem, writer.renewed)


def _remedy(session: str) -> str:
    return f"run: asz parse --rebuild {session}"


def _sound_chain(directory: Path, session: str) -> chain.Chain:
    """The chain, when it holds together to its end.

    :raises ChainError: it does not.
    """
    found = chain.read_chain(directory)
    if found.problem is not None:
        raise ChainError(f"{found.problem}; {_remedy(session)}")
    return found


def _refresh(session_dir: Path) -> str | None:
    """Bring the index up to the disk; when a collector holds the session it is used as it is."""
    try:
        with hold(session_dir / ".lock"):
            index.update(session_dir)
    except BusyError:
        pass
    except FormatError as error:
        return str(error)
    return None


def _set_aside(directory: Path) -> None:
    """Move the rounds to the first free ``rounds.<n>``."""
    rounds = directory / chain.ROUNDS
    if not rounds.exists():
        return
    number = 1
    while (directory / f"{chain.ROUNDS}.{number}").exists():
        number += 1
    with step(Step.CHAIN_SET_ASIDE):
        rounds.rename(directory / f"{chain.ROUNDS}.{number}")
        sync(directory)


class _Writer:
    """Appends to one chain; its lock is held."""

    def __init__(
        self, session: str, session_dir: Path, directory: Path, max_round_bytes: int
    ) -> None:
        self._session = session
        self._session_dir = session_dir
        self._directory = directory
        self._budget = max_round_bytes
        self._folded = Folded()
        self._tokens: Tokens | None = None
        self.renewed = False
        """Whether the chain was of older rules and is begun again."""

    @property
    def rounds(self) -> int:
        """Rounds of the chain."""
        return self._folded.head.round if self._folded.head is not None else 0

    @property
    def _number(self) -> int:
        """Number of the next round."""
        return self.rounds + 1

    @property
    def _through(self) -> int:
        """Landed sequence the chain covers."""
        return self._folded.head.through_seq if self._folded.head is not None else 0

    def run(self, landed: Coverage) -> int:
        """Write the rounds that are missing; how many."""
        rows = index.load(self._session_dir, landed.through_seq)
        self._read_chain(rows)
        rounds = self._directory / chain.ROUNDS
        new = not rounds.exists()
        make_directory(rounds)
        if new:
            with step(Step.DIRECTORY_SYNC):
                sync(self._directory)
        remove_temporaries(rounds)
        written = self._write(rows) if rows.through_seq > self._through else 0
        self._save_state(rows, landed)
        return written

    def _read_chain(self, rows: SessionRows) -> None:
        """Fold the chain there is, or set it aside when older rules made it."""
        found = _sound_chain(self._directory, self._session)
        remedy = _remedy(self._session)
        previous = ""
        landed = {seq: file.digest for seq, file in rows.files.items()}
        for round_ in found.rounds:
            header = round_.header
            where = f"{self._directory}: round {header.round}"
            rules = rules_of(header)
            if rules == "newer":
                raise ChainError(
                    f"{where}: written by a newer asz, with parser {header.parser} and policy "
                    f"{header.policy}, this is {PARSER} and {POLICY}; upgrade asz"
                )
            self.renewed |= rules == "older"
            if header.through_seq > rows.through_seq:
                raise ChainError(
                    f"{where}: covers sequence {header.through_seq}, the index ends at "
                    f"{rows.through_seq}: landed files are missing; put them back, or {remedy}"
                )
            problem = chain.evidence_problem(header, previous, landed)
            if problem is not None:
                raise ChainError(f"{where} {problem}; put the files back, or {remedy}")
            previous = header.input_digest
        if self.renewed:
            _set_aside(self._directory)
        else:
            self._folded = fold(found.rounds)

    def _write(self, rows: SessionRows) -> int:
        """Plan cuts over the new files, then write a round for each; a round that comes out too big is
        cut once more."""
        seqs = sorted(seq for seq in rows.files if seq > self._through)
        whole = assemble(rows)
        frames = difference(self._folded, whole, self._number)
        pending = plan.cuts(frames, seqs, self._budget)[::-1]
        written = 0
        while pending:
            cut = pending.pop()
            target = whole if cut == seqs[-1] else assemble(through(rows, cut))
            covers = [seq for seq in seqs if self._through < seq <= cut]
            round_, data = self._next(rows, target, covers)
            if plan.too_big(len(data), self._budget, len(covers)):
                pending += [cut, plan.earlier_cut(covers, len(data), self._budget)]
                continue
            chain.append(self._directory, self._number, data, round_.digest)
            self._folded.apply(round_)
            self._tokens = target.facts.tokens
            written += 1
        return written

    def _next(self, rows: SessionRows, target: Structure, covers: list[int]) -> tuple[Round, bytes]:
        """The next round, over the landed files ``covers``, and its bytes."""
        before = self._folded.head
        digests = [rows.files[seq].digest for seq in covers]
        first, last = times(between(rows, covers[0], covers[-1]))
        facts = target.facts
        header = RoundHeader(
            schema=sf.SCHEMA,
            conversation=target.conversation,
            session=target.session,
            round=self._number,
            previous=self._folded.digest,
            from_seq=self._through + 1,
            through_seq=covers[-1],
            input_digest=chain.input_digest(before.input_digest if before else "", digests),
            parser=PARSER,
            policy=POLICY,
            from_time=_text(first),
            through_time=_text(last),
            session_from_time=_text(facts.from_time),
            session_through_time=_text(facts.through_time),
            title=facts.title,
            talks=facts.talks,
            steps=facts.steps,
            streams=facts.streams,
            segments=facts.segments,
            unresolved=facts.unresolved,
        )
        frames = difference(self._folded, target, self._number)
        data, digest = sf.encode_round(header, frames)
        return Round(header, frames, digest), data

    def _save_state(self, rows: SessionRows, landed: Coverage) -> None:
        """Renew the cache, also when it was only lost."""
        head, digest = self._folded.head, self._folded.digest
        if head is None or digest is None:
            return
        if self._tokens is None:
            self._tokens = assemble(through(rows, head.through_seq)).facts.tokens
        state.save(self._directory, head, digest, self._tokens, landed.digest)


def _text(time: int | None) -> str | None:
    return format_ns(time) if time is not None else None
