"""What a terminal would act on is escaped, and JSON stays JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz.cli.text import json_text, printable, safe_json, table

ACTS = [
    "\x1b", "\x00", "\x07", "\x7f", "\x9b", "\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\ufeff",
    "\ud800", "\U000e0041", "\n", "\r", "\t",
]  # fmt: skip


@pytest.mark.parametrize("character", ACTS)
def test_what_a_terminal_acts_on_is_escaped(character: str) -> None:
    assert printable(f"a{character}b").isascii()
    assert character not in printable(f"a{character}b")


def test_a_line_stays_one_line() -> None:
    assert printable("a\r\nb\tc\x1b[2K\u202e") == "a\\r\\nb\\tc\\x1b[2K\\u202e"


@pytest.mark.parametrize("text", ["plain", "Übung", "日本語", "a\\b", "👩\u200d💻"])
def test_ordinary_text_stays(text: str) -> None:
    assert printable(text) == text


@given(st.recursive(st.text() | st.integers(-(2**53), 2**53) | st.none(), st.lists))
def test_json_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(json_text(value)) == value


@given(st.text(max_size=20))
def test_json_holds_nothing_a_terminal_acts_on(text: str) -> None:
    shown = safe_json(json.dumps(text, ensure_ascii=False))
    assert not any(character in shown for character in ACTS)


def test_a_table_lines_up_and_is_printable() -> None:
    assert table(("A", "B"), [("x\n", "1"), ("longer", "\x1b")]) == [
        "A       B",
        "x\\n     1",
        "longer  \\x1b",
    ]
