"""Times: RFC 3339 text to nanoseconds since the epoch, and back."""

import re
import time
from datetime import UTC, datetime
from typing import Final

_RFC3339: Final = re.compile(
    r"^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$", re.ASCII
)
_SECOND: Final = 1_000_000_000


def parse_ns(text: str) -> int | None:
    """Nanoseconds since the epoch, UTC; ``None`` when ``text`` is no RFC 3339 time."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    zone = "+00:00" if zone in "Zz" else zone
    try:
        seconds = int(datetime.fromisoformat(f"{day}T{clock}{zone}").timestamp())
    except (ValueError, OverflowError):
        return None
    return seconds * _SECOND + int((fraction or "").ljust(9, "0"))


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
