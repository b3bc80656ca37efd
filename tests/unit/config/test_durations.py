"""Durations as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz.config.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("24h", 86_400), ("3d", 259_200), ("1d2h3m4s", 93_784)],
)
def test_units_add_up(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "10", "10 m", "m", "1m1h", "1h1h", "-1s", "1.5h", "1H", "٣s", 600, None, "0s"]
)
def test_anything_else_is_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="a duration such as 90s"):
        parse_duration(text)


@given(st.integers(1, 10**9))
def test_what_is_written_reads_back(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds
