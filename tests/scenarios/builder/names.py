"""The runtime's identifiers from a scenario's names, and back.

Every identifier is derived from the scenario and the name alone, so a scenario always gives the same
files. ``Names.shown`` turns what asz produced back into the names, which is how expectations are
written. A name given as ``id:TEXT`` stands for the identifier ``TEXT`` itself.
"""

import hashlib
import re
import uuid
from collections.abc import Callable
from typing import Final

_SPACE: Final = uuid.UUID("6f1c0f52-3f0e-4c1e-9c57-0a4f8a3c2d11")

_SHAPES: Final = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|toolu_[0-9A-Za-z]{24}|msg_[0-9A-Za-z]{24}|a[0-9a-f]{16}|(?:wf_)?[0-9a-f]{8}-[0-9a-f]{3}"
)


class Names:
    """Identifiers of one scenario."""

    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self._real: dict[tuple[str, str], str] = {}
        self._shown: dict[str, str] = {}

    def session(self, name: str = "session") -> str:
        """A session id: a UUID."""
        return self._make("session", name, self._uuid)

    def record(self, name: str) -> str:
        """A record id: a UUID."""
        return self._make("record", name, self._uuid)

    def cycle(self, name: str) -> str:
        """A prompt cycle's id: a UUID."""
        return self._make("cycle", name, self._uuid)

    def tool(self, name: str) -> str:
        """A tool-use id."""
        return self._make("tool", name, lambda key: "toolu_" + self._hash(key)[:24])

    def call(self, name: str) -> str:
        """A provider message id."""
        return self._make("call", name, lambda key: "msg_" + self._hash(key)[:24])

    def agent(self, name: str) -> str:
        """An agent id: ``a`` and 16 hex digits."""
        return self._make("agent", name, lambda key: "a" + self._hash(key)[:16])

    def workflow(self, name: str) -> str:
        """A workflow run id, which holds a hyphen."""
        made = self._make("workflow", name, self._run)
        self._shown[made.removeprefix("wf_")] = name
        return made

    def shown(self, text: str) -> str:
        """``text`` with every identifier of this scenario as its name."""
        return _SHAPES.sub(lambda match: self._shown.get(match.group(), match.group()), text)

    def _make(self, sort: str, name: str, form: Callable[[str], str]) -> str:
        if name.startswith("id:"):
            return name[3:]
        if (sort, name) not in self._real:
            made = form(f"{self.scenario}:{sort}:{name}")
            self._real[sort, name] = made
            self._shown[made] = name
        return self._real[sort, name]

    def _run(self, key: str) -> str:
        digits = self._hash(key)
        return f"wf_{digits[:8]}-{digits[8:11]}"

    @staticmethod
    def _uuid(key: str) -> str:
        return str(uuid.uuid5(_SPACE, key))

    @staticmethod
    def _hash(key: str) -> str:
        return hashlib.sha256(key.encode()).hexdigest()
