"""How fast asz sends: a token bucket that holds what one minute allows."""

from collections.abc import Callable
from dataclasses import dataclass, field

MINUTE = 60.0


@dataclass(slots=True)
class Limiter:
    """Says how long to wait before a request. It starts full, so a minute's bytes go at once."""

    bytes_per_minute: int
    """0: no limit."""
    clock: Callable[[], float]
    """Seconds, never going back."""
    _tokens: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = float(self.bytes_per_minute)
        self._at = self.clock()

    def delay(self, size: int) -> float:
        """Seconds until a request of ``size`` bytes may be sent.

        One that is larger than the bucket waits until it is full, and what it is larger by is owed.
        """
        if not self.bytes_per_minute:
            return 0.0
        self._refill()
        missing = min(size, self.bytes_per_minute) - self._tokens
        return max(0.0, missing * MINUTE / self.bytes_per_minute)

    def spend(self, size: int) -> None:
        """Count a request that is sent."""
        if self.bytes_per_minute:
            self._refill()
            self._tokens -= size

    def _refill(self) -> None:
        now = self.clock()
        gained = (now - self._at) * self.bytes_per_minute / MINUTE
        self._tokens = min(float(self.bytes_per_minute), self._tokens + gained)
        self._at = now
