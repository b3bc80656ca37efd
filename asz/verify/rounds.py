"""The chain of a conversation: each round whole, linked, over the evidence it says, and resolvable."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from asz.assembly.model import Node, Ref, Relation
from asz.errors import FormatError
from asz.flow import chain, sf
from asz.flow.chain import RoundName
from asz.flow.fold import Folded
from asz.flow.sf import Frame, Round, RoundHeader
from asz.storage.root import Root
from asz.verify.landed import LandedCheck
from asz.verify.problem import Problem, Tally, reason
from asz_hookspecs.vocabulary import CONTAINERS

_HOLDERS: Final = frozenset(CONTAINERS)


class ChainCheck:
    """Checks one conversation against the landed files of its session."""

    def __init__(self, root: Root, conversation: str, landed: LandedCheck, tally: Tally) -> None:
        self._root = root
        self._conversation = conversation
        self._landed = landed
        self._tally = tally
        self._folded = Folded()
        self._before: Round | None = None
        self._unbroken = True
        """Whether every round so far could be read, so that links and the fold can be judged."""

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong, round by round."""
        names = chain.round_names(self._root.conversation_dir(self._conversation))
        expected = 1
        for name in names:
            if name.number < expected:
                yield self._problem("a second round of this number", name)
                continue
            for number in range(expected, name.number):
                self._unbroken = False
                where = f"{self._where(name).rpartition('/')[0]}"
                yield Problem("the round is missing", where, round=number)
            expected = name.number + 1
            try:
                round_ = sf.read_round(name.path)
            except FormatError as error:
                self._unbroken = False
                yield self._problem(reason(error, name.path), name)
                continue
            yield from self._check(name, round_)
        if self._unbroken and names:
            yield from self._check_ends(names[-1])

    def _check(self, name: RoundName, round_: Round) -> Iterator[Problem]:
        self._tally.rounds += 1
        whats = [*chain.name_problems(name, round_), *self._header_problems(round_.header)]
        if self._unbroken:
            whats += chain.link_problems(self._before, round_)
            whats += self._evidence_problems(round_.header)
        missing = chain.missing_sequences(round_.header, self._landed.names)
        if missing:
            whats.append(f"consumed landed files that are not there: sequence {missing}")
        for what in whats:
            yield self._problem(what, name)
        yield from self._check_frames(name, round_)
        if self._unbroken:
            self._before = round_
            self._folded.apply(round_)
            yield from self._check_counts(name, round_.header)

    def _header_problems(self, header: RoundHeader) -> Iterator[str]:
        if header.conversation != self._conversation:
            yield f"the header says conversation {header.conversation}"

    def _evidence_problems(self, header: RoundHeader) -> Iterator[str]:
        """The input digest, when every file it is over can be read."""
        consumed = range(header.from_seq, header.through_seq + 1)
        if any(seq not in self._landed.digests for seq in consumed):
            return
        previous = self._before.header.input_digest if self._before is not None else ""
        what = chain.evidence_problem(header, previous, self._landed.digests)
        if what is not None:
            yield what

    # ---------------------------------------------------------------- frames

    def _check_frames(self, name: RoundName, round_: Round) -> Iterator[Problem]:
        for frame in round_.frames:
            if frame.revision != round_.header.round:
                yield self._problem(f"{frame.id} says revision {frame.revision}", name)
            for ref in _refs(frame):
                what = self._unresolvable(ref, round_.header)
                if what is not None:
                    yield self._problem(f"{frame.id} refers to {what}", name, ref.seq)

    def _unresolvable(self, ref: Ref, header: RoundHeader) -> str | None:
        """What is wrong with a reference; one into a file that cannot be read is told with the file."""
        if not 1 <= ref.seq <= header.through_seq:
            return f"sequence {ref.seq}, which the round does not reach"
        parts = self._landed.parts.get(ref.seq)
        if parts is None:
            return None
        if not 1 <= ref.row <= len(parts):
            return f"row {ref.row}, the file has {len(parts)}"
        if ref.block is not None and not 0 <= ref.block < parts[ref.row - 1]:
            return f"block {ref.block} of row {ref.row}, the record has {parts[ref.row - 1]}"
        return None

    # ---------------------------------------------------------------- the fold

    def _check_counts(self, name: RoundName, header: RoundHeader) -> Iterator[Problem]:
        """The header describes the fold as of its round."""
        kinds = Counter(node.kind for node in self._folded.nodes.values())
        steps = sum(count for kind, count in kinds.items() if kind not in _HOLDERS)
        for word, said, held in (
            ("talks", header.talks, kinds["talk"]),
            ("steps", header.steps, steps),
            ("streams", header.streams, kinds["stream"]),
            ("segments", header.segments, kinds["segment"]),
            ("open references", header.unresolved, self._folded.count_open()),
        ):
            if said != held:
                yield self._problem(f"the header counts {said} {word}, the fold holds {held}", name)

    def _check_ends(self, head: RoundName) -> Iterator[Problem]:
        """Every parent and every end of a relation is a node of the fold."""
        nodes = self._folded.nodes
        for node in nodes.values():
            if node.parent is not None and node.parent not in nodes:
                yield self._problem(f"{node.id} hangs from {node.parent}, which is not there", head)
        for relation in self._folded.relations.values():
            for end in (relation.from_, relation.to):
                if end not in nodes:
                    yield self._problem(f"{relation.id} names {end}, which is not there", head)

    def _where(self, name: RoundName) -> str:
        return name.path.relative_to(self._root.path).as_posix()

    def _problem(self, what: str, name: RoundName, seq: int | None = None) -> Problem:
        return Problem(what, self._where(name), round=name.number, seq=seq)


def _refs(frame: Frame) -> Iterator[Ref]:
    """Every position a frame refers to, those among its attributes included."""
    if isinstance(frame, Relation):
        yield from frame.evidence
    elif isinstance(frame, Node):
        if frame.ref is not None:
            yield frame.ref
        yield from frame.refs
        for value in frame.attrs.values():
            ref = _position(value)
            if ref is not None:
                yield ref


def _position(value: Any) -> Ref | None:
    if not isinstance(value, dict) or not {"seq", "row"} <= value.keys():
        return None
    seq, row = value["seq"], value["row"]
    return Ref(seq, row) if isinstance(seq, int) and isinstance(row, int) else None
