"""The beginning of what was said or asked for, read from the landed file a node refers to."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from asz.assembly.model import Node

_SPOKEN: Final = frozenset(
    (
        "message.external",
        "message.assistant",
        "message.synthetic",
        "context.injection",
        "thinking",
        "runtime.notification",
        "epoch.summary",
        "error.api",
        "control.command",
        "control.notice",
    )
)
_ASKED: Final = frozenset(("tool", "agent.call"))
_LONGEST: Final = 100


class Excerpts:
    """Excerpts of one session. A landed file that is gone or damaged just has none."""

    def __init__(self, session_dir: Path) -> None:
        from asz.storage.landed import landed_names

        self._session_dir = session_dir
        try:
            self._paths = {name.seq: name.path for name in landed_names(session_dir)}
        except OSError:
            self._paths = {}
        self._file = lru_cache(maxsize=8)(self._read)

    def of(self, node: "Node") -> str:
        """The first words of a node in quotes, or the input of a tool as JSON; empty when it has neither."""
        if node.ref is None or node.kind not in _SPOKEN | _ASKED:
            return ""
        lines = self._file(node.ref.seq)
        if node.ref.row > len(lines):
            return ""
        asked = node.kind in _ASKED
        read = _input if asked else _text
        text = " ".join(read(lines[node.ref.row - 1], node.ref.block).split())
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST - 1]}…"
        return text if asked or not text else f'"{text}"'

    def _read(self, seq: int) -> list[bytes]:
        from asz.errors import FormatError
        from asz.storage.sd import read_file

        path = self._paths.get(seq)
        if path is None:
            return []
        try:
            return read_file(self._session_dir / path).lines
        except FormatError:
            return []


def _text(line: bytes, block: int | None) -> str:
    return next((str(part["text"]) for part in _parts(line, block) if part.get("text")), "")


def _input(line: bytes, block: int | None) -> str:
    from asz.jsonio import encode

    return next(
        (encode(part["data"]).decode() for part in _parts(line, block) if "data" in part), ""
    )


def _parts(line: bytes, block: int | None) -> list[dict[str, Any]]:
    from asz.jsonio import decode

    parts: list[dict[str, Any]] = decode(line).get("parts", [])
    return parts if block is None else parts[block : block + 1]
