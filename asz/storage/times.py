"""Times: RFC 3339 text to nanoseconds since the epoch, and back."""

import re
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_RFC3339: Final = re.compile(
    r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d):(\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_SECOND: Final = 1_000_000_000

LATEST_NS: Final = 9 * 10**18
"""Latest time a metric can carry, in the year 2255: nanoseconds since the epoch in a signed 64-bit integer,
and room for a window's end."""
_LIMIT: Final = 1 << 63


def parse_ns(text: str) -> int | None:
    """Nanoseconds since the epoch, UTC; ``None`` when ``text`` is no RFC 3339 time, or one that 64 bits do
    not hold: those run from 1677 to 2262."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    minute, second, fraction, zone = match.groups()
    start = _minute(minute, zone)
    if start is None or int(second) > 59:
        return None
    nanoseconds = int(fraction.ljust(9, "0")) if fraction else 0
    ns = (start + int(second)) * _SECOND + nanoseconds
    return ns if -_LIMIT <= ns < _LIMIT else None


@lru_cache(maxsize=4096)  # records of one minute follow each other
def _minute(text: str, zone: str) -> int | None:
    """Seconds since the epoch at the start of a minute."""
    try:
        moment = datetime.fromisoformat(
            f"{text[:10]}T{text[11:]}{'+00:00' if zone in 'Zz' else zone}"
        )
        return int(moment.timestamp())
    except (ValueError, OverflowError):
        return None


def format_ns(ns: int) -> str:
    """RFC 3339 in UTC, fraction without trailing zeros; the form of every time in a round."""
    seconds, rest = divmod(ns, _SECOND)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:09d}".rstrip("0").rstrip(".") + "Z"


def stamp_now() -> tuple[str, str]:
    """This moment twice: as a header's ``at`` and as a file name's stamp, nine digits of fraction."""
    ns = time.time_ns()
    seconds, rest = divmod(ns, _SECOND)
    moment = datetime.fromtimestamp(seconds, UTC)
    return (
        f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z",
        f"{moment:%Y%m%dT%H%M%S}.{rest:09d}Z",
    )
