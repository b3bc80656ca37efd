"""Generated trees: the tokens that are derived are those the generator says were used."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from asz.storage.times import format_ns

from ..support.pipeline import Pipeline
from ..support.spool import Point, never_overlap, points
from .test_truth import TREES, Tree

METERED = ", metrics: true, metrics_lookback: 99999d"

Counts = dict[tuple[str, ...], int]


def derived(found: Iterable[Point], *, by_minute: bool) -> Counts:
    """Tokens by session, minute, source, model and type; nothing of what is zero."""
    out: Counts = {}
    for point in found:
        minute = (format_ns(point.start)[:16],) if by_minute else ()
        rest = (point.attribute(name) for name in ("query_source", "model", "type"))
        key = (point.attribute("session.id"), *minute, *rest)
        out[key] = out.get(key, 0) + int(point.value)
    return {key: count for key, count in out.items() if count}


def told(truth: Path, *, by_minute: bool) -> Counts:
    out: Counts = {}
    for session, account in json.loads(truth.read_text())["sessions"].items():
        name = "usage_by_minute" if by_minute else "usage"
        out |= {(session, *key): count for key, count in leaves(account[name]) if count}
    return out


def leaves(tree: dict[str, Any]) -> Iterable[tuple[tuple[str, ...], int]]:
    for name, below in tree.items():
        if isinstance(below, dict):
            yield from (((name, *key), count) for key, count in leaves(below))
        else:
            yield (name,), below


@pytest.mark.parametrize(("hazards", "seed"), TREES)
def test_derived_tokens_are_the_truth(hazards: str, seed: int, tmp_path: Path) -> None:
    tree = Tree(tmp_path, hazards, seed)
    pipeline = Pipeline(tmp_path / "metered", tree.pipeline.projects, options=METERED)
    outcome = pipeline.collect()
    assert outcome.status == 0, outcome.err
    for by_minute in (False, True):
        assert derived(points(pipeline.root), by_minute=by_minute) == told(
            tree.truth, by_minute=by_minute
        )

    tree.grow()
    outcome = pipeline.collect()
    assert outcome.status == 0, outcome.err
    found = points(pipeline.root)
    assert derived(found, by_minute=False) == told(tree.truth, by_minute=False)
    assert never_overlap(found)
    pipeline.collect()
    assert points(pipeline.root) == found


def test_a_tree_that_grew_in_small_files_gives_the_same(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "high", 5)
    tree.grow()
    small = "collector: {max_delta_bytes: 4096}\n"
    pipeline = Pipeline(tmp_path / "metered", tree.pipeline.projects, METERED, small)
    assert pipeline.collect().status == 0
    assert derived(points(pipeline.root), by_minute=True) == told(tree.truth, by_minute=True)


def test_the_command_adds_up_the_same(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "high", 4)
    tree.collect()
    printed = json.loads(tree.pipeline.asz("metrics", "--json").out)
    held: Counts = {}
    for row in printed["finished"]:
        source = "main" if row["role"] == "main" else "subagent"
        tokens = row["tokens"]
        for kind, name in (
            ("input", "input"),
            ("output", "output"),
            ("cacheRead", "cache_read"),
            ("cacheCreation", "cache_write"),
        ):
            held[source, row["model"], kind] = tokens[name]
    expected: Counts = {}
    for (_session, *rest), count in told(tree.truth, by_minute=False).items():
        key = tuple(rest)
        expected[key] = expected.get(key, 0) + count
    assert {key: count for key, count in held.items() if count} == expected
    accounts = json.loads(tree.truth.read_text())["sessions"].values()
    unfinished = sum(account["calls"]["unfinished"] for account in accounts)
    assert sum(row["calls"] for row in printed["unfinished"]) == unfinished
