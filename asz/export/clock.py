"""Where pushing has its time from, so that tests need not wait."""

import time
from typing import Final, Protocol


class Clock(Protocol):
    """Two clocks and a way to wait."""

    def now_ns(self) -> int:
        """Nanoseconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class _System:
    def now_ns(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


SYSTEM: Final[Clock] = _System()
