"""One transcript's lines: scenario items become the JSON records Claude Code would have written."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from .blocks import attachment_body, fragment_message, result_block, task_notification
from .names import Names

Item = dict[str, Any]

START: Final = datetime(2026, 9, 1, 10, 0, 0, tzinfo=UTC)
"""The time of every file's first record; each later record is a second later unless it says ``at``."""

OPTIONS: Final = frozenset(
    (
        "as",
        "id",
        "after",
        "cycle",
        "origin",
        "at",
        "version",
        "with",
        "session",
        "no_id",
        "times",
        "unfinished_line",
    )
)
"""Keys every item may carry beside those of its own kind."""


class ScenarioError(Exception):
    """The YAML does not follow the language of README.md."""


class Lines:
    """A transcript being appended to: its chain head, its prompt cycle and its clock."""

    def __init__(
        self, names: Names, session: str, *, version: str, cwd: str, agent: str | None = None
    ) -> None:
        self.names, self.session, self.agent = names, session, agent
        self.version, self.cwd = version, cwd
        self.prefix = f"{agent}/" if agent else ""
        self.last: str | None = None
        self.cycle: str | None = None
        self.clock = START
        self.written: dict[str, dict[str, Any]] = {}
        self.labels: list[str] = []
        """The name of every complete line written so far, in line order."""
        self._counts: Counter[str] = Counter()
        self._unfinished = False

    def append(self, items: list[Item]) -> bytes:
        """The bytes that these items add to the file."""
        return b"".join(self._item(item) for item in items for _ in range(item.get("times", 1)))

    # ---------------------------------------------------------------- one item

    def _item(self, item: Item) -> bytes:
        kind = next((key for key in item if key in _KINDS), None)
        if kind is None:
            raise ScenarioError(f"{item}: none of its keys is a kind of record")
        method, allowed = _KINDS[kind]
        if odd := set(item) - {kind} - OPTIONS - allowed:
            raise ScenarioError(f"{item}: {kind} does not take {sorted(odd)}")
        self._tick(item)
        unfinished, self._unfinished = self._unfinished, bool(item.get("unfinished_line"))
        end = b"" if self._unfinished else b"\n"
        if kind == "raw":
            if not unfinished:
                self._label(item, kind)
            return str(item["raw"]).encode("latin-1") + end
        if kind == "copy":
            record = self._copy(item)
        else:
            record = self._finish(item, kind, method(self, item))
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + end

    def _tick(self, item: Item) -> None:
        if "at" in item:
            self.clock = START + timedelta(seconds=float(item["at"]))
        else:
            self.clock += timedelta(seconds=1)

    def _label(self, item: Item, kind: str) -> str:
        base = item.get("call") if kind == "call" else kind
        self._counts[str(base)] += 1
        name = str(item.get("as") or f"{self.prefix}{base}-{self._counts[str(base)]}")
        if kind == "call" and "as" not in item:
            name = f"{base}.{self._counts[str(base)]}"
        if kind == "result" and "as" not in item:
            name = f"{item['result']}.result"
        while name in self.labels:
            name += "~"
        self.labels.append(name)
        return name

    def _finish(self, item: Item, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        """Add what every record of this runtime carries, in the order it writes it."""
        name = self._label(item, kind)
        if kind in _PLAIN or item.get("no_id"):
            return {**body, "sessionId": self.session, **item.get("with", {})}
        head: dict[str, Any] = {
            "parentUuid": self._parent(item),
            "isSidechain": self.agent is not None,
        }
        if self.agent:
            head["agentId"] = self.names.agent(self.agent)
        if cycle := self._cycle(item, kind, name):
            head["promptId"] = self.names.cycle(cycle)
        origin = item.get(
            "origin", {"input": "human", "notification": "task-notification"}.get(kind)
        )
        if origin and body["type"] == "user":
            body["origin"] = {"kind": origin}
        record = {
            **head,
            **body,
            "uuid": self.names.record(item.get("id", name)),
            "timestamp": _iso(self.clock),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.cwd,
            "sessionId": self.names.session(item["session"]) if "session" in item else self.session,
            "version": item.get("version", self.version),
            "gitBranch": "main",
            **item.get("with", {}),
        }
        self.last, self.written[name] = item.get("id", name), record
        return record

    def _parent(self, item: Item) -> str | None:
        after = item.get("after", self.last)
        if item.keys() & {"reset"} and "after" not in item:
            after = None
        return None if after is None else self.names.record(after)

    def _cycle(self, item: Item, kind: str, name: str) -> str | None:
        """The prompt cycle a record states: prompts open one, other user records repeat it."""
        if kind in ("input", "notification", "task", "slash") and "cycle" not in item:
            self.cycle = name
        elif item.get("cycle"):
            self.cycle = item["cycle"]
        stated = kind in _USER and item.get("cycle", "") is not None
        return self.cycle if stated or item.get("cycle") else None

    def _copy(self, item: Item) -> dict[str, Any]:
        """A record emitted again: the same id, content and time, and whatever ``with`` rewrites."""
        name = item["copy"]
        again = dict(self.written[name])
        self.labels.append(item.get("as") or f"{name}~copy-{self.labels.count(name) + 1}")
        if item.get("cycle"):
            again["promptId"] = self.names.cycle(item["cycle"])
        if item.get("after"):
            again["parentUuid"] = self.names.record(item["after"])
        if item.get("origin"):
            again["origin"] = {"kind": item["origin"]}
        again.update(item.get("with", {}))
        return again

    # ---------------------------------------------------------------- kinds of records

    def _user(self, item: Item, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": "user", "message": {"role": "user", "content": content}, **more}

    def _input(self, item: Item) -> dict[str, Any]:
        return self._user(item, item["input"], promptSource="typed")

    def _task(self, item: Item) -> dict[str, Any]:
        return self._user(item, item["task"])

    def _meta(self, item: Item) -> dict[str, Any]:
        return self._user(item, item["meta"], isMeta=True)

    def _slash(self, item: Item) -> dict[str, Any]:
        return self._user(item, f"<command-name>{item['slash']}</command-name>")

    def _says(self, item: Item) -> dict[str, Any]:
        return self._user(item, item["user"])

    def _summary(self, item: Item) -> dict[str, Any]:
        return self._user(item, item["summary"], isCompactSummary=True)

    def _notification(self, item: Item) -> dict[str, Any]:
        return self._user(item, task_notification(self.names, item["notification"]))

    def _result(self, item: Item) -> dict[str, Any]:
        ids = item["result"] if isinstance(item["result"], list) else [item["result"]]
        content = [result_block(self.names, name, item) for name in ids]
        detail = item.get("detail", {"stdout": item.get("text", "ok"), "stderr": ""})
        if isinstance(detail, dict):
            detail = self._detail(dict(detail))
        return self._user(item, content, **({} if detail is None else {"toolUseResult": detail}))

    def _detail(self, detail: dict[str, Any]) -> dict[str, Any]:
        """A structured result: ``agent``, ``workflow`` and ``tool`` are names and become ids."""
        for key, field, real in (
            ("agent", "agentId", self.names.agent),
            ("workflow", "runId", self.names.workflow),
            ("tool", "toolUseId", self.names.tool),
        ):
            if key in detail:
                detail[field] = real(detail.pop(key))
        return detail

    def _call(self, item: Item) -> dict[str, Any]:
        message = fragment_message(self.names, item)
        request = {"requestId": item["request"]} if item.get("request") else {}
        return {"type": "assistant", "message": message, **request}

    def _synthetic(self, item: Item) -> dict[str, Any]:
        message = {
            "id": self.names.record(f"synthetic {item['synthetic']}"),
            "model": "<synthetic>",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": item["synthetic"]}],
            "stop_reason": "stop_sequence",
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        request = {"requestId": item["request"]} if item.get("request") else {}
        return {"type": "assistant", "message": message, **request, "isApiErrorMessage": True}

    def _attachment(self, item: Item) -> dict[str, Any]:
        return {"type": "attachment", "attachment": attachment_body(item)}

    def _queued(self, item: Item) -> dict[str, Any]:
        body = {
            "type": "queued_command",
            "prompt": item["queued"],
            "commandMode": item.get("mode", "prompt"),
        }
        if item.get("origin"):
            body["origin"] = {"kind": item["origin"]}
        return {"type": "attachment", "attachment": body}

    def _system(self, subtype: str | None, **more: Any) -> dict[str, Any]:
        stated = {"subtype": subtype} if subtype else {}
        return {"type": "system", **stated, "level": "info", "isMeta": False, **more}

    def _reset(self, item: Item) -> dict[str, Any]:
        named = item["reset"]
        body = self._system("compact_boundary", content="Conversation compacted")
        if named:
            body["logicalParentUuid"] = self.names.record(named)
        return {**body, "compactMetadata": {"trigger": "auto", "preTokens": 167112}}

    def _error(self, item: Item) -> dict[str, Any]:
        return self._system(
            "api_error", retryAttempt=1, maxRetries=10, error={"status": item["error"]}
        )

    def _command(self, item: Item) -> dict[str, Any]:
        return self._system("local_command", content=item["command"])

    def _turn(self, item: Item) -> dict[str, Any]:
        return self._system("turn_duration", durationMs=item["turn"], messageCount=4)

    def _notice(self, item: Item) -> dict[str, Any]:
        return self._system(item["notice"], content="ok")

    def _title(self, item: Item) -> dict[str, Any]:
        return {"type": "ai-title", "aiTitle": item["title"]}

    def _plain(self, item: Item) -> dict[str, Any]:
        return {"type": item["plain"], "content": item.get("text", "")}


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


_KINDS: Final = {
    "input": (Lines._input, frozenset[str]()),
    "task": (Lines._task, frozenset[str]()),
    "user": (Lines._says, frozenset[str]()),
    "meta": (Lines._meta, frozenset[str]()),
    "slash": (Lines._slash, frozenset[str]()),
    "summary": (Lines._summary, frozenset[str]()),
    "notification": (Lines._notification, frozenset[str]()),
    "result": (Lines._result, frozenset(("text", "failed", "content", "detail"))),
    "call": (
        Lines._call,
        frozenset(("thinks", "says", "uses", "blocks", "stop", "usage", "model", "request")),
    ),
    "synthetic": (Lines._synthetic, frozenset(("request",))),
    "attachment": (Lines._attachment, frozenset(("text", "content", "body"))),
    "queued": (Lines._queued, frozenset(("mode",))),
    "reset": (Lines._reset, frozenset[str]()),
    "error": (Lines._error, frozenset[str]()),
    "command": (Lines._command, frozenset[str]()),
    "turn": (Lines._turn, frozenset[str]()),
    "notice": (Lines._notice, frozenset[str]()),
    "title": (Lines._title, frozenset[str]()),
    "plain": (Lines._plain, frozenset(("text",))),
    "copy": (Lines._plain, frozenset[str]()),
    "raw": (Lines._plain, frozenset[str]()),
}
_USER: Final = frozenset(
    ("input", "task", "user", "meta", "slash", "summary", "notification", "result")
)
_PLAIN: Final = frozenset(("title", "plain"))
