"""Compares the generator's account of a tree with asz's, field by field.

By hand, over a root that ``asz collect --once`` filled from the tree::

    python -m tests.truth.compare TREE TRUTH.json ROOT

Fields in ``LEFT_OUT`` have no counterpart; a field of the truth that is neither there nor in asz's account is
a difference, so that none is forgotten.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .account import account
from .evidence import Evidence

AGENT: Final = re.compile(r"^a[0-9a-f]{16}$")
"""The only form of agent id the generator writes."""

LEFT_OUT: Final = frozenset(
    (
        "conflicts",  # always empty; the pass line is asserted instead
        "invalid_json_files",  # always 0
    )
)

Account = dict[str, Any]


def differences(
    projects: Path, root: Path, truth: Account, sources: dict[str, list[dict[str, Any]]]
) -> list[str]:
    """One line for each field of each session that differs.

    :param truth: what ``--truth`` wrote.
    :param sources: for each session the sources ``asz sources --json`` lists.
    """
    found = []
    for session, told in sorted(truth["sessions"].items()):
        if session not in sources:
            found.append(f"{session}: not discovered")
        elif not any(lines["lines"] for lines in told["lines"].values()):
            if (root / session / "streams").exists():
                found.append(f"{session}: landed although it has no line")
        elif not (root / session).exists():
            found.append(f"{session}: not landed")
        else:
            held = account(Evidence(root, session, projects), sources[session])
            forgotten = told.keys() - held.keys() - LEFT_OUT
            found += [f"{session}: {name} is not compared" for name in sorted(forgotten)]
            expected = in_shape(told, held)
            found += [f"{session}: {line}" for line in _differ("", expected, held)]
    found += [f"{session}: is no session" for session in sorted(sources.keys() - truth["sessions"])]
    return found


def in_shape(truth: Account, held: Account) -> Account:
    """The truth with the names and the grouping of asz's account."""
    blocks, calls, tools = (truth[name] for name in ("blocks", "calls", "tools"))
    runs = truth["workflow_names"]
    return {
        **{name: truth[name] for name in held if name in truth},
        "blocks": {
            "reasoning": blocks.get("thinking", 0),
            "redacted": blocks.get("redacted_thinking", 0),
            "call": blocks.get("tool_use", 0) + blocks.get("server_tool_use", 0),
            "result": blocks.get("tool_result", 0),
            "media": blocks.get("image", 0),
        },
        "calls": {name: calls[name] for name in held["calls"]},
        "tools": {name: tools[name] for name in held["tools"]},
        "runs": {
            stream: [[cycle, _trigger(stated), count] for cycle, stated, count in cycles]
            for stream, cycles in truth["runs"].items()
        },
        "edges": sorted(
            [call, child, quality, "agent_result" if how == "skill_fork" else how]
            for call, child, quality, how in truth["edges"]
        ),
        "notifications": [_notification(note) for note in truth["notifications"]],
        "unresolved": {
            kind: sorted(_bare(ref) for ref in refs) for kind, refs in truth["unresolved"].items()
        },
        "labels": {
            stream: [_label(text, held["labels"].get(stream)), how.split(".")[0]]
            for stream, (text, how) in truth["labels"].items()
        },
        "workflow_names": {_bare(run): name for run, name in runs.items()},
        "workflow_calls": {call: runs[run] for run, call in truth["workflow_calls"].items()},
    }


def _trigger(stated: list[str]) -> str:
    """What a run says of its trigger, from the kinds of origin its records state."""
    if not stated:
        return "none_stated"
    strongest = {"human": "external", "task-notification": "notification"}
    return next((word for kind, word in strongest.items() if kind in stated), "unknown")


def _notification(note: Account) -> Account:
    agents = (task for task in note["task_ids"] if AGENT.match(task))
    return {
        **{key: note[key] for key in ("record", "stream", "tool_use_id", "reports", "candidates")},
        "child": next(agents, None),
    }


def _label(text: str, held: list[str] | None) -> str:
    """A label from a verdict goes on with the refuted claim, which the truth leaves out."""
    return held[0] if held and held[0].startswith(f"{text}: ") else text


def _bare(run: str) -> str:
    """A workflow's run id as asz writes it."""
    return run.removeprefix("wf_")


def _differ(path: str, expected: Any, held: Any) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(held, dict):
        for key in sorted({*expected, *held}, key=str):
            inner = f"{path}.{key}" if path else str(key)
            yield from _differ(inner, expected.get(key), held.get(key))
    elif isinstance(expected, list) and isinstance(held, list):
        yield from _differ_lists(path, expected, held)
    elif expected != held:
        yield f"{path}: truth {expected!r}, asz {held!r}"


def _differ_lists(path: str, expected: list[Any], held: list[Any]) -> Iterator[str]:
    if len(expected) == len(held):
        for place, (left, right) in enumerate(zip(expected, held, strict=True)):
            if left != right:
                yield f"{path}[{place}]: truth {left!r}, asz {right!r}"
        return
    missing = [item for item in expected if item not in held]
    beyond = [item for item in held if item not in expected]
    yield f"{path}: truth has {len(expected)}, asz {len(held)}; missing {missing}; beyond {beyond}"


def sources_of(printed: list[Account]) -> dict[str, list[dict[str, Any]]]:
    """Transcripts and what belongs to them by session, from what ``asz sources --json`` printed."""
    found: dict[str, list[dict[str, Any]]] = {}
    for session in (session for adapter in printed for session in adapter["sessions"]):
        listed = [source for source in session["sources"] if source["kind"] != "changes"]
        found.setdefault(session["id"], []).extend(listed)
    return found


def main(tree: str, truth: str, root: str) -> int:
    """Print every difference; 1 when there is any."""
    from ..support.pipeline import Pipeline

    projects, told = Path(tree) / "projects", json.loads(Path(truth).read_text())
    with tempfile.TemporaryDirectory() as home:
        printed = Pipeline(Path(home), projects).asz("sources", "--json").out
    found = differences(projects, Path(root), told, sources_of(json.loads(printed)))
    print(*found, sep="\n")
    print(f"{len(told['sessions'])} sessions compared, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
