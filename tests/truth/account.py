"""asz's own account of a session, in the shape of the generator's ``--truth``.

Every field is read from what asz made: discovery as ``asz sources --json`` prints it, landed files, the
fold of the chain. Nothing is read from the generator's account.
"""

import hashlib
from collections import Counter, defaultdict
from typing import Any, Final

from asz.assembly.model import Node
from asz.storage.rows import UsageRow
from asz_hookspecs.vocabulary import STEPS, UNRESOLVED

from .evidence import LINE_CLASSES, Evidence, file_kind

TRIGGERS: Final = {"external": "human", "notification": "task-notification"}
MECHANISMS: Final = {
    "run journal": "workflow_journal",
    "parent tool result": "agent_result",
    "completion notification": "notification",
}
FILE_KINDS: Final = ("main", "agent", "workflow_agent", "journal")
TOKENS: Final = ("input", "output", "cacheRead", "cacheCreation")


def account(evidence: Evidence, sources: list[dict[str, Any]]) -> dict[str, Any]:
    """The account of one session.

    :param sources: the session's sources as ``asz sources --json`` lists them.
    """
    return {
        "session": evidence.session,
        **_places(sources),
        "lines": _line_classes(evidence),
        "records": _records(evidence),
        "blocks": _blocks(evidence),
        "streams": _streams(evidence),
        "runs": _runs(evidence),
        "talks": _talks(evidence),
        **_calls(evidence),
        "tools": _tools(evidence),
        "steps": _steps(evidence),
        **_spawns(evidence),
        "notifications": _notifications(evidence),
        "unresolved": _unresolved(evidence),
        **_names(evidence),
        "outputs": _outputs(evidence),
        **_outside(evidence),
        **_changes(evidence),
    }


# ---------------------------------------------------------------- files and lines


def _places(sources: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = Counter(file_kind(source["src"], source["kind"]) for source in sources)
    main = [source["src"] for source in sources if source["stream"] == "main"]
    return {
        "directories": sorted({source["src"].split("/", 1)[0] for source in sources}),
        "primary": main[0].split("/", 1)[0] if main else None,
        "sources": dict(kinds),
    }


def _line_classes(evidence: Evidence) -> dict[str, dict[str, int]]:
    found = {kind: dict.fromkeys(LINE_CLASSES, 0) for kind in FILE_KINDS}
    ends: dict[tuple[str, str], int] = {}
    for line in evidence.lines:
        if line.kind in found:
            found[line.kind]["lines"] += 1
            found[line.kind][line.damage or "records"] += 1
            ends[line.src, line.kind] = line.end
    for (src, kind), end in ends.items():
        found[kind]["unterminated"] += (evidence.projects / src).stat().st_size > end
    return found


def _records(evidence: Evidence) -> dict[str, int]:
    ids = [line.record.id for line in evidence.transcript if line.record.id is not None]
    homes = defaultdict(set)
    for line in evidence.transcript:
        if line.record.id is not None:
            homes[line.record.id].add(line.src)
    parents = {line.record.parent for line in evidence.originals} - {None}
    return {
        "total": len(evidence.transcript),
        "with_id": len(ids),
        "without_id": len(evidence.transcript) - len(ids),
        "unique": len(homes),
        "duplicates": len(ids) - len(homes),
        "cross_file_duplicates": sum(len(places) > 1 for places in homes.values()),
        "dangling_parents": len(parents - homes.keys()),
    }


def _blocks(evidence: Evidence) -> dict[str, int]:
    """Content blocks by what they became; text is left out, since a plain string is a text part too."""
    found: Counter[str] = Counter()
    for line in evidence.originals:
        if line.record.from_ in ("agent", "external"):
            for part in line.record.parts:
                found["redacted" if part.state == "redacted" else part.k] += 1
    return {kind: found[kind] for kind in ("reasoning", "redacted", "call", "result", "media")}


def _changes(evidence: Evidence) -> dict[str, Any]:
    """Results that say what they changed, and what the plugin observed in each stream."""
    reported = sum(
        part.k == "data" and bytes(part.data).startswith(b'{"schema":"changes/1"')
        for line in evidence.originals
        for part in line.record.parts
    )
    observed = Counter(line.stream for line in evidence.lines if line.kind == "changes")
    return {"changes": {"runtime_reported": reported}, "plugin_changes": dict(observed)}


# ---------------------------------------------------------------- streams, runs, calls


def _streams(evidence: Evidence) -> dict[str, dict[str, Any]]:
    kinds = {line.stream: line.kind for line in evidence.transcript}
    records = Counter(line.stream for line in evidence.originals)
    found = {}
    for node in evidence.nodes("stream"):
        name = node.stream or ""
        calls = evidence.nodes("llm.call", stream=name)
        found[name] = {
            "kind": kinds.get(name),
            "records": records[name],
            "epochs": len(evidence.nodes("epoch", stream=name)),
            "calls": len(calls),
            "finished": sum(_finished(call) for call in calls),
            "runs": len(evidence.nodes("run", stream=name)),
            "talks": len(evidence.nodes("talk", stream=name)),
        }
    return found


def _runs(evidence: Evidence) -> dict[str, list[list[Any]]]:
    """For each stream its runs in order: cycle, trigger, number of calls."""
    found: dict[str, list[list[Any]]] = {}
    for stream in evidence.nodes("stream"):
        found[stream.stream or ""] = [
            [run.id.rsplit("/", 1)[1], run.attrs["trigger"], _count(evidence, run, "llm.call")]
            for run in evidence.nodes("run", stream=stream.stream)
        ]
    return found


def _talks(evidence: Evidence) -> list[list[str]]:
    """The cycles of each main-stream talk."""
    runs = defaultdict(list)
    for run in evidence.nodes("run", stream="main"):
        runs[run.parent].append(run.id.rsplit("/", 1)[1])
    return [runs[talk.id] for talk in evidence.nodes("talk", stream="main")]


def _outside(evidence: Evidence) -> dict[str, int]:
    """Runs that no talk holds, and calls that no run holds."""
    kinds = {node.id: node.kind for node in evidence.entities.nodes.values()}
    outside = {"run": "talk", "llm.call": "run"}
    counts = {
        kind: sum(kinds.get(node.parent or "") != holder for node in evidence.nodes(kind))
        for kind, holder in outside.items()
    }
    return {"runs_outside_talks": counts["run"], "calls_without_run": counts["llm.call"]}


def _calls(evidence: Evidence) -> dict[str, Any]:
    totals = Counter[str]()
    digest = 0
    usage: dict[str, Any] = {}
    by_minute: dict[str, Any] = {}
    for node in evidence.nodes("llm.call"):
        finished = _finished(node)
        last = node.refs[-1] if node.refs else node.ref
        assert last is not None
        row = evidence.row_at[last.seq, last.row]
        counts = row.usage or UsageRow(0, 0, 0, 0)
        told = counts if finished else UsageRow(0, 0, 0, 0)
        totals["total"] += 1
        totals["finished" if finished else "unfinished"] += 1
        totals["fragments"] += node.attrs["fragments"]
        totals["finished_without_usage"] += finished and row.usage is None
        totals["stop_reason_not_on_last"] += finished and not row.has("finished")
        text = "|".join(
            map(str, (row.call, node.stream, node.attrs["fragments"], int(finished), *told))
        )
        digest += int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)
        if finished:
            source = "main" if node.stream == "main" else "subagent"
            minute = (evidence.line_at[last.seq, last.row].record.time or "")[:16]
            for tree in (usage, by_minute.setdefault(minute, {})):
                leaf = tree.setdefault(source, {}).setdefault(row.model, dict.fromkeys(TOKENS, 0))
                for name, value in zip(TOKENS, counts, strict=True):
                    leaf[name] += value
    names = (
        "total",
        "finished",
        "unfinished",
        "fragments",
        "finished_without_usage",
        "stop_reason_not_on_last",
    )
    calls = {name: totals[name] for name in names}
    return {
        "calls": {**calls, "digest": f"{digest % 2**64:016x}"},
        "usage": usage,
        "usage_by_minute": by_minute,
    }


def _finished(call: Node) -> bool:
    return bool(call.attrs["usage"] == "observed_replayable")


def _count(evidence: Evidence, parent: Node, kind: str) -> int:
    return sum(node.kind == kind for node in evidence.children_of[parent.id])


# ---------------------------------------------------------------- steps, tools, spawns


def _steps(evidence: Evidence) -> dict[str, int]:
    kinds = Counter(node.kind for node in evidence.entities.nodes.values())
    return {kind: kinds[kind] for kind in STEPS}


def _tools(evidence: Evidence) -> dict[str, int]:
    tools = evidence.nodes("tool", "agent.call")
    joins = Counter(node.attrs["result_join"] for node in tools)
    results = sum(part.k == "result" for line in evidence.originals for part in line.record.parts)
    return {
        "uses": len(tools),
        "results": results,
        "joined": joins["exact_unique"],
        "uses_without_result": joins["unresolved"],
        "results_without_use": len(evidence.open("tool_use")),
        "ambiguous_uses": joins["exact_ambiguous"],
    }


def _spawns(evidence: Evidence) -> dict[str, Any]:
    edges = [
        [_last(rel.from_), _last(rel.to), rel.quality, MECHANISMS[rel.via]]
        for rel in evidence.relations("starts")
    ]
    started_by = {
        row.child: row.started_by for row in evidence.rows if row.started_by and row.child
    }
    joined = {edge[1] for edge in edges}
    return {
        "edges": sorted(edges),
        "started_by": started_by,
        "sidecar_only": sorted(started_by.keys() - joined),
        "orphans": evidence.open("spawn_of_child"),
    }


def _notifications(evidence: Evidence) -> list[dict[str, Any]]:
    reports = {rel.from_: [_last(rel.to), rel.quality] for rel in evidence.relations("reports")}
    started = Counter(_last(rel.from_) for rel in evidence.relations("starts"))
    found = []
    for node in evidence.nodes("runtime.notification"):
        assert node.ref is not None
        row = evidence.row_at[node.ref.seq, node.ref.row]
        told = reports.get(node.id)
        found.append(
            {
                "record": row.id,
                "stream": node.stream,
                "tool_use_id": row.tool,
                "child": row.child,
                "reports": told,
                "candidates": node.attrs.get("candidates", min(1, started[row.tool or ""])),
            }
        )
    return found


def _unresolved(evidence: Evidence) -> dict[str, list[str]]:
    """Open references; what a reset waits for is told by the reset, as the truth does."""
    found = {kind: evidence.open(kind) for kind in UNRESOLVED}
    waiting = {line.record.continues: line.record.id or "" for line in evidence.originals}
    found["epoch_continuation"] = sorted(waiting[ref] for ref in found["epoch_continuation"])
    return found


# ---------------------------------------------------------------- names and outputs


def _names(evidence: Evidence) -> dict[str, Any]:
    session = evidence.nodes("session")[0]
    labels = {
        node.stream: [node.attrs["label"], node.attrs.get("named_by", "sidecar")]
        for node in evidence.nodes("stream")
        if "label" in node.attrs
    }
    manifests = {
        row.batch: row.label
        for row in evidence.rows
        if row.batch and row.label and _kind(evidence, row.seq) == "workflow_manifest"
    }
    named = {
        _last(node.id): node.attrs["workflow"]
        for node in evidence.nodes("agent.call", "tool")
        if "workflow" in node.attrs
    }
    return {
        "title": session.attrs.get("title"),
        "labels": labels,
        "workflow_names": manifests,
        "workflow_calls": named,
    }


def _outputs(evidence: Evidence) -> dict[str, dict[str, Any]]:
    found = {}
    for node in evidence.nodes("agent.output"):
        lines = [evidence.line_at[ref.seq, ref.row] for ref in node.refs or (node.ref,) if ref]
        response = next((line.record for line in lines if line.kind != "journal"), None)
        found[node.stream or ""] = {
            "message_id": response.call if response else None,
            "record": response.id if response else None,
            "journal_result": any(line.kind == "journal" for line in lines),
            "returned_value": node.attrs["returned_value"],
        }
    return found


def _kind(evidence: Evidence, seq: int) -> str:
    return next(file.header.kind for file in evidence.files if file.header.seq == seq)


def _last(node_id: str) -> str:
    """The part of an id that names the thing."""
    return node_id.split("/", 1)[1].replace("%2F", "/").replace("%25", "%")
