"""Waiting for the rest of a call whose last landed record may not be its last."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from asz.metrics.calls import ReportedCall

WAIT_SECONDS: Final = 120.0
"""How long a response may take to go on after its latest record landed."""


@dataclass(slots=True)
class Patience:
    """How long the calls of a watching pipeline have waited: in memory, so that a clock that was set and a
    process that was killed cost nothing but another wait."""

    clock: Callable[[], float] = time.monotonic
    _since: dict[tuple[str, str], tuple[tuple[int, int], float]] = field(default_factory=dict)
    _before: dict[tuple[str, str], tuple[tuple[int, int], float]] = field(default_factory=dict)

    def begin(self) -> None:
        """A pass begins; calls that no longer wait are forgotten with it."""
        self._before, self._since = self._since, {}

    def waits(self, call: ReportedCall) -> bool:
        """Whether a call is still to wait. It begins to when first asked about, and again when more of it
        has landed."""
        now = self.clock()
        key = (call.session, call.id)
        at, since = self._before.get(key, (call.at, now))
        if at != call.at:
            since = now
        self._since[key] = (call.at, since)
        return now - since < WAIT_SECONDS
