"""A scenario's files: which lines go where below ``projects/``, and what each line is called."""

import json
import re
from pathlib import Path
from typing import Any, Final

import yaml

from .lines import Lines, ScenarioError
from .names import Names

CWD: Final = "/srv/demo/kettle"
"""Where a scenario's session was started unless it says otherwise."""

_HEAD: Final = frozenset(("about", "version", "cwd", "session", "checkpoints", "cut_anywhere"))
_WRITE: Final = frozenset(("main", "agents", "runs", "changes", "files"))
_AGENT: Final = frozenset(("sidecar", "records"))
_OBSERVED: Final = frozenset(("tool", "changed", "basis", "raw", "with"))
_RUN: Final = frozenset(("journal", "manifest", "script", "script_in", "label", "agents"))


class Scenario:
    """One scenario file: its rule, its checkpoints, and the state of the files written so far."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        document = yaml.safe_load(path.read_text())
        _check(document, _HEAD, path.name)
        self.about: str = document["about"]
        self.checkpoints: list[dict[str, Any]] = document["checkpoints"]
        self.cut_anywhere: bool = document.get("cut_anywhere", True)
        self._version: str = document.get("version", "2.1.245")
        self.names = Names(self.name)
        self._cwd: str = document.get("cwd", CWD)
        self._project = re.sub(r"[^A-Za-z0-9]", "-", self._cwd)
        self.session = self.names.session(document.get("session", "session"))
        self._lines: dict[str, Lines] = {}
        self._journals: dict[str, list[str]] = {}
        self._documents: dict[str, list[str]] = {}

    def labels(self) -> dict[str, list[str]]:
        """For each source, relative to ``projects/``, the names of its lines or versions in order."""
        found = {src: lines.labels for src, lines in self._lines.items()}
        return {**found, **self._journals, **self._documents}

    # ---------------------------------------------------------------- one checkpoint

    def write(self, projects: Path, checkpoint: dict[str, Any], *, backwards: bool = False) -> None:
        """Append a checkpoint's files below ``projects``; ``backwards`` makes them in reverse order."""
        files = self.files(checkpoint)
        for src in sorted(files, reverse=backwards):
            path = projects / src
            path.parent.mkdir(parents=True, exist_ok=True)
            data, whole = files[src]
            if whole:
                path.write_bytes(data)
            else:
                with path.open("ab") as handle:
                    handle.write(data)
        for src in checkpoint.get("remove", []):
            (projects / self._src(src)).unlink()

    def files(self, checkpoint: dict[str, Any]) -> dict[str, tuple[bytes, bool]]:
        """``src`` to its bytes, and whether they replace the file rather than extend it."""
        write = checkpoint.get("write", {})
        _check(write, _WRITE, "write")
        home, out = f"{self._project}/{self.session}", {}
        if "main" in write:
            out[f"{home}.jsonl"] = self._append(f"{home}.jsonl", None, write["main"])
        for agent, given in write.get("agents", {}).items():
            out |= self._agent(f"{home}/subagents", agent, given)
        for run, given in write.get("runs", {}).items():
            out |= self._run(home, run, given)
        for stream, observed in write.get("changes", {}).items():
            out |= self._changes(stream, observed)
        for src, text in write.get("files", {}).items():
            out[self._src(src)] = (text.encode(), True)
        return out

    def _src(self, src: str) -> str:
        """A path of the scenario's own words as a path below ``projects``."""
        home = f"{self._project}/{self.session}"
        if src == "main":
            return f"{home}.jsonl"
        if src.startswith("agents/"):
            return f"{home}/subagents/agent-{self.names.agent(src[7:])}.jsonl"
        return src.replace("SESSION", self.session)

    def _changes(self, stream: str, observed: list[Any]) -> dict[str, tuple[bytes, bool]]:
        """What the plugin appends beside ``projects`` about one stream."""
        real = stream if stream == "main" else self.names.agent(stream)
        src = f"../plugins/data/file-changes-asz/output/{self.session}/{real}.jsonl"
        return {src: (b"".join(self._observed(real, item) for item in observed), False)}

    def _observed(self, stream: str, item: dict[str, Any]) -> bytes:
        """One line of the plugin's."""
        _check(item, _OBSERVED, "changes")
        if "raw" in item:
            return str(item["raw"]).encode() + b"\n"
        tool = self.names.tool(item["tool"]) if "tool" in item else None
        changed = item.get("changed", {})
        record = {
            "schema": "changes/1",
            "id": tool or "between",
            "captured_by": "asz-plugin",
            "session": self.session,
            "stream": stream,
            **({"tool": tool} if tool else {}),
            "time": "2026-09-01T10:00:00.000Z",
            "basis": item.get("basis", "tool_window" if tool else "unattributed"),
            "root": {"path": self._cwd},
            "changed_files": len(changed),
            "changes": [
                {"path": path, "operation": operation, "diff": "unavailable"}
                for path, operation in changed.items()
            ],
            **item.get("with", {}),
        }
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _append(self, src: str, agent: str | None, items: list[Any]) -> tuple[bytes, bool]:
        if src not in self._lines:
            self._lines[src] = Lines(
                self.names, self.session, version=self._version, cwd=self._cwd, agent=agent
            )
        return self._lines[src].append(items), False

    def _agent(
        self, folder: str, agent: str, given: dict[str, Any]
    ) -> dict[str, tuple[bytes, bool]]:
        """A child's transcript and its sidecar."""
        _check(given, _AGENT, agent)
        stem, out = f"{folder}/agent-{self.names.agent(agent)}", {}
        if "records" in given:
            out[f"{stem}.jsonl"] = self._append(f"{stem}.jsonl", agent, given["records"])
        if "sidecar" in given:
            sidecar = dict(given["sidecar"])
            if "parent" in sidecar:
                sidecar["parentAgentId"] = self.names.agent(sidecar.pop("parent"))
            if "tool" in sidecar:
                sidecar["toolUseId"] = self.names.tool(sidecar.pop("tool"))
            out[f"{stem}.meta.json"] = self._document(
                f"{stem}.meta.json", f"{agent}.sidecar", sidecar
            )
        return out

    def _run(self, home: str, run: str, given: dict[str, Any]) -> dict[str, tuple[bytes, bool]]:
        """A workflow run: journal, manifest, script and children."""
        _check(given, _RUN, run)
        real = self.names.workflow(run)
        out: dict[str, tuple[bytes, bool]] = {}
        folder = f"{home}/subagents/workflows/{real}"
        for agent, child in given.get("agents", {}).items():
            out |= self._agent(folder, agent, child)
        if "journal" in given:
            out[f"{folder}/journal.jsonl"] = self._journal(f"{folder}/journal.jsonl", run, given)
        if "manifest" in given:
            src = f"{home}/workflows/{real}.json"
            manifest = {"runId": real, **given["manifest"]}
            out[src] = self._document(src, f"{run}.manifest", manifest)
        if "script" in given:
            place = given.get("script_in", self._project)
            label = given.get("label", run)
            src = f"{place}/{self.session}/workflows/scripts/{label}-{real}.js"
            self._documents.setdefault(src, []).append(f"{run}.script")
            out[src] = (given["script"].encode(), True)
        return out

    def _document(self, src: str, label: str, value: dict[str, Any]) -> tuple[bytes, bool]:
        versions = self._documents.setdefault(src, [])
        versions.append(label if not versions else f"{label}~{len(versions) + 1}")
        return json.dumps(value, ensure_ascii=False, indent=1).encode(), True

    def _journal(self, src: str, run: str, given: dict[str, Any]) -> tuple[bytes, bool]:
        labels, out = self._journals.setdefault(src, []), b""
        for row in given["journal"]:
            kind = next(iter(row))
            body: dict[str, Any] = {"type": kind}
            if kind in ("started", "result"):
                agent = self.names.agent(row[kind])
                body |= {"key": f"v2:{agent}", "agentId": agent}
            if "value" in row:
                body["result"] = row["value"]
            labels.append(f"{run}.{kind}-{row[kind]}")
            out += json.dumps(body, ensure_ascii=False).encode() + b"\n"
        return out, False


def _check(given: dict[str, Any], known: frozenset[str], where: str) -> None:
    if odd := set(given) - known:
        raise ScenarioError(f"{where}: unknown keys {sorted(odd)}")
