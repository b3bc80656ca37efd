"""The fold of any chain is one full assembly, wherever the rounds were cut."""

import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from asz.assembly.assemble import assemble, through
from asz.assembly.model import PARSER, POLICY, Entities, Structure
from asz.flow.chain import read_chain
from asz.flow.delta import difference
from asz.flow.fold import Folded, fold
from asz.flow.parse import parse
from asz.flow.sf import SCHEMA, RoundHeader, decode_round, encode_round
from asz.storage.index import load
from asz.storage.root import Root
from asz.verify import verify
from asz_hookspecs.vocabulary import CONTAINERS, RELATIONS, STEPS, UNRESOLVED

from ..support.landed import Landing
from .sessions import File, as_rows, land, sessions


def plain(entities: Entities) -> dict[str, Any]:
    """Everything but revisions, and references that were resolved."""
    kinds = (entities.nodes, entities.relations, entities.unresolved)
    found: dict[str, Any] = {}
    for held in kinds:
        for name, entity in held.items():
            if getattr(entity, "state", "open") == "open":
                found[name] = msgspec.structs.replace(entity, revision=0)
    return found


def header(number: int, target: Structure) -> RoundHeader:
    counts = dict.fromkeys(("talks", "steps", "streams", "segments", "unresolved"), 0)
    return RoundHeader(
        schema=SCHEMA,
        conversation="c",
        session="s1",
        round=number,
        from_seq=1,
        through_seq=target.through_seq,
        input_digest="",
        parser=PARSER,
        policy=POLICY,
        **counts,
    )


@settings(max_examples=300, deadline=None)
@given(sessions, st.sets(st.integers(1, 8)))
def test_any_cuts_fold_to_the_same(files: list[File], cuts: set[int]) -> None:
    rows = as_rows(files)
    folded = Folded()
    stops = sorted(cut for cut in {*cuts, len(files)} if cut <= len(files))
    for number, cut in enumerate(stops, 1):
        target = assemble(through(rows, cut))
        expected = plain(assemble(through(rows, cut)))
        data, _ = encode_round(header(number, target), difference(folded, target, number))
        folded.apply(decode_round(Path("r"), data))
        assert plain(folded) == expected


@settings(max_examples=300, deadline=None)
@given(sessions)
def test_every_structure_is_a_tree_in_the_vocabulary(files: list[File]) -> None:
    rows = as_rows(files)
    found = assemble(rows)
    assert plain(assemble(rows)) == plain(found)
    for node in found.nodes.values():
        assert node.kind in (*CONTAINERS, *STEPS)
        seen, parent = {node.id}, node.parent
        while parent is not None:
            assert parent not in seen
            seen.add(parent)
            parent = found.nodes[parent].parent
        assert "session/s1" in seen
    for relation in found.relations.values():
        assert relation.type in RELATIONS
        assert {relation.from_, relation.to} <= found.nodes.keys()
        assert relation.evidence
    assert {entry.kind for entry in found.unresolved.values()} <= set(UNRESOLVED)


@settings(max_examples=40, deadline=None)
@given(sessions, st.sampled_from([1, 3_000, 6_000, 1 << 21]), st.integers(0, 8))
def test_a_chain_on_disk_folds_to_its_index_and_verifies(
    files: list[File], budget: int, first: int
) -> None:
    with tempfile.TemporaryDirectory() as home:
        root = Root(Path(home))
        landing = Landing(root.path)
        land(files[:first], landing)
        parse(root, "s1", max_round_bytes=budget)
        land(files[first:], landing)
        parse(root, "s1", max_round_bytes=budget)
        rounds = read_chain(root.conversation_dir("s1")).rounds
        assert rounds[-1].header.through_seq == len(files)
        if budget == 1:
            assert len(rounds) == len(files)
        for number, round_ in enumerate(rounds, 1):
            rows = load(landing.directory, round_.header.through_seq)
            assert plain(fold(rounds[:number])) == plain(assemble(rows))
        assert [str(problem) for problem in verify(root)] == []


@settings(max_examples=40, deadline=None)
@given(sessions)
def test_landed_files_and_rows_say_the_same(files: list[File]) -> None:
    with tempfile.TemporaryDirectory() as home:
        landing = Landing(Path(home))
        land(files, landing)
        assert plain(assemble(load(landing.directory))) == plain(assemble(as_rows(files)))
