"""What the plugin wrote: lines, files, and looking through them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from asz_claude_code_changes.discover import discover
from asz_claude_code_changes.options import Options
from asz_hookspecs import Discovery, Source

SESSION = "0b5ff9a0-7d0f-4a5e-9c1a-2f7f8d1f0a11"
OTHER = "1C6FF9A0-7D0F-4A5E-9C1A-2F7F8D1F0A22"
AGENT = "a0123456789abcdef"
PLUGIN = "file-changes-asz"
WORKSPACE = "/work/p"


def change(path: str = "a/b.py", **fields: Any) -> dict[str, Any]:
    """One changed file."""
    return {"path": path, "operation": "modify", "diff": "unavailable", **fields}


def observed(tool: str | None = "toolu_1", *changes: Any, **fields: Any) -> dict[str, Any]:
    """One record of changes, as the plugin writes it."""
    record = {
        "schema": "changes/1",
        "id": tool or "window-1",
        "captured_by": "asz-plugin",
        "session": SESSION,
        "stream": "main",
        "tool": tool,
        "tool_name": "Bash",
        "time": "2026-09-01T10:00:00.000Z",
        "basis": "tool_window" if tool else "unattributed",
        "root": {"path": WORKSPACE},
        "changes": list(changes) or [change()],
    }
    return {key: value for key, value in {**record, **fields}.items() if value is not None}


def dump(*records: Any) -> bytes:
    """Lines of compact JSON."""
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in records)
    return "".join(f"{line}\n" for line in lines).encode()


class Data:
    """A directory of plugins' data."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, src: str, content: bytes | None = None) -> Path:
        """A file below the directory; one record of changes unless given."""
        path = self.root / src
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dump(observed()) if content is None else content)
        return path

    def stream(
        self, name: str = "main", session: str = SESSION, plugin: str = PLUGIN, *records: Any
    ) -> Path:
        """A file of one stream."""
        content = dump(*records) if records else None
        return self.write(f"{plugin}/output/{session}/{name}.jsonl", content)

    def discover(self, followed: Iterable[str] = (), **options: object) -> Discovery:
        """What is found; ``followed`` are the sources that cursors follow."""
        known = frozenset(followed)
        settings = Options.model_validate({"source_root": str(self.root), "exclude": [], **options})
        return discover(settings, lambda _: known)


def sources(found: Discovery) -> dict[str, list[Source]]:
    """Sources by session."""
    return {session.id: list(session.sources) for session in found.sessions}


def srcs(found: Discovery) -> list[str]:
    """Every source's path."""
    return sorted(source.src for session in found.sessions for source in session.sources)
