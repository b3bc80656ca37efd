"""Compares what a scenario expects of a checkpoint with what a structure holds."""

from collections import Counter
from typing import Any, Final

from asz_hookspecs.vocabulary import STEPS

from .builder import ScenarioError
from .shown import Shown

KEYS: Final = frozenset(
    (
        "steps",
        "holds",
        "tree",
        "nodes",
        "relations",
        "unresolved",
        "changes",
        "round",
        "rounds",
        "landed",
        "damaged",
    )
)
_ROUND_KEYS: Final = frozenset(("new", "changed", "removed", "resolved", "unchanged"))
ABSENT: Final = "absent"


def differences(expected: dict[str, Any], shown: Shown) -> list[str]:
    """One line for each thing that is not as expected; every open reference must be expected."""
    if odd := set(expected) - KEYS:
        raise ScenarioError(f"expect: unknown keys {sorted(odd)}")
    kinds = Counter(node["kind"] for node in shown.nodes.values())
    found = []
    if "steps" in expected:
        steps = {kind: kinds[kind] for kind in STEPS if kinds[kind]}
        found += _differ("steps", expected["steps"], steps)
    found += _differ(
        "holds", expected.get("holds", {}), {k: kinds[k] for k in expected.get("holds", {})}
    )
    if "tree" in expected:
        found += _differ("tree", outline(expected["tree"]), shown.parents())
    for name, attributes in expected.get("nodes", {}).items():
        found += _node(name, attributes, shown)
    for type_, listed in expected.get("relations", {}).items():
        found += _relations(type_, listed, shown)
    return found + _differ("unresolved", expected.get("unresolved", {}), shown.open())


def round_differences(
    expected: dict[str, Any], before: Shown, after: Shown, first: int
) -> list[str]:
    """What the rounds since ``before`` wrote.

    :param first: number of the first of those rounds.
    """
    if odd := set(expected) - _ROUND_KEYS:
        raise ScenarioError(f"round: unknown keys {sorted(odd)}")
    written = {name for name, revision in after.revisions.items() if revision >= first}
    new = {name for name in after.nodes if name not in before.nodes}
    held = before.nodes.keys() | before.unresolved.keys()
    changed = {name for name in written if name in held}
    resolved = sorted(
        key for key, state in after.unresolved.items() if state == "resolved" and key in written
    )
    found = [f"round: {name} is not new" for name in expected.get("new", []) if name not in new]
    if expected.get("new") == []:
        found += [f"round: {name} is new" for name in sorted(new)]
    found += [
        f"round: {n} was not changed" for n in expected.get("changed", []) if n not in changed
    ]
    if expected.get("changed") == []:
        found += [f"round: {name} was changed" for name in sorted(changed)]
    for name in expected.get("unchanged", []):
        if name not in after.nodes or name in written:
            found.append(f"round: {name} is not as it was")
    if "removed" in expected:
        gone = sorted(before.nodes.keys() - after.nodes.keys())
        found += _differ("round removed", sorted(expected["removed"]), gone)
    if "resolved" in expected:
        found += _differ("round resolved", sorted(expected["resolved"]), resolved)
    return found


def outline(text: str) -> dict[str, str]:
    """An indented outline as child to parent."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        depth, name = len(line) - len(line.lstrip()), line.strip()
        while above and above[-1][0] >= depth:
            above.pop()
        if name in parents:
            raise ScenarioError(f"tree: {name} stands there twice")
        if above:
            parents[name] = above[-1][1]
        above.append((depth, name))
    return parents


def _node(name: str, attributes: dict[str, Any], shown: Shown) -> list[str]:
    node = shown.nodes.get(name)
    if node is None:
        return [f"{name}: no such node; there are {sorted(shown.nodes)}"]
    found = []
    for key, value in attributes.items():
        held = node.get(key, ABSENT)
        if held != value:
            found.append(f"{name}: {key} is {held!r}, expected {value!r}")
    return found


def _relations(type_: str, listed: list[dict[str, Any]], shown: Shown) -> list[str]:
    held = {key: value for key, value in shown.relations.items() if key[0] == type_}
    keys = sorted((type_, item["from"], item["to"]) for item in listed)
    found = _differ(f"relations {type_}", keys, sorted(held))
    for item in listed:
        relation = held.get((type_, item["from"], item["to"]), {})
        for key in item.keys() - {"from", "to"}:
            if relation.get(key) != item[key]:
                ends = f"{type_} {item['from']} -> {item['to']}"
                found.append(f"{ends}: {key} is {relation.get(key)!r}, expected {item[key]!r}")
    return found


def _differ(what: str, expected: Any, held: Any) -> list[str]:
    if expected == held:
        return []
    if isinstance(expected, dict) and isinstance(held, dict):
        keys = [k for k in sorted({*expected, *held}) if expected.get(k) != held.get(k)]
        return [f"{what}: {k} is {held.get(k)!r}, expected {expected.get(k)!r}" for k in keys]
    return [f"{what}: {held!r}, expected {expected!r}"]
