"""Durations as people write them: ``90s``, ``10m``, ``24h``, ``3d``, and combinations such as ``1h30m``."""

import re
from typing import Final

EXPECTED: Final = "a duration such as 90s, 10m, 24h, 3d or 1h30m"
"""What an error about a duration says was expected."""

_SECONDS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM: Final = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?", re.ASCII)


def parse_duration(text: object) -> int:
    """Seconds in ``text``; units run from the largest to the smallest, each at most once.

    :raises ValueError: not a duration, or one of no length.
    """
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(EXPECTED)
    numbers = zip(_SECONDS.values(), match.groups(), strict=True)
    seconds = sum(unit * int(number) for unit, number in numbers if number)
    if not seconds:
        raise ValueError(f"{EXPECTED}, longer than nothing")
    return seconds


def format_duration(seconds: int) -> str:
    """The shortest text that reads as ``seconds``."""
    out = ""
    for unit, size in _SECONDS.items():
        number, seconds = divmod(seconds, size)
        if number:
            out += f"{number}{unit}"
    return out or "0s"
