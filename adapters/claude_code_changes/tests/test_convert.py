"""One line, one record that holds it whole; what is no record of changes is kept and said to be damaged."""

import base64
import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asz.storage.records import RecordWriter, record_sha
from asz_claude_code_changes.convert import convert_line, stays_below

from .tree import change, dump, observed


def line(record: Any) -> bytes:
    return dump(record)[:-1]


def landed(raw: bytes) -> dict[str, Any]:
    """The line a record is written as."""
    record = convert_line(raw)
    return dict(orjson.loads(RecordWriter().encode(record, 1, 0, raw, record_sha(raw))))


def kept(row: dict[str, Any]) -> bytes:
    """What the unknown part holds."""
    part = next(part for part in row["parts"] if part["k"] == "unknown")
    return base64.b64decode(part["data"]) if "encoding" in part else part["data"].encode()


def test_a_line_lands_whole_with_what_joins_it() -> None:
    raw = line(observed("toolu_9", time="2026-09-01T12:00:00+02:00"))
    row = landed(raw)
    assert {
        key: value for key, value in row.items() if key not in ("ord", "off", "sha", "bytes")
    } == {
        "id": "toolu_9",
        "tool": "toolu_9",
        "time": "2026-09-01T12:00:00+02:00",
        "parts": [{"k": "data", "data": json.loads(raw), "state": "available", "bytes": len(raw)}],
    }


def test_bytes_are_kept() -> None:
    raw = line(observed())[:-1] + b', "x" : 1e2, "x":"\\u0041" }\r'
    (part,) = convert_line(raw).parts
    assert part.data == raw[:-1]


def test_what_no_tool_did_has_no_tool() -> None:
    record = convert_line(line(observed(None)))
    assert (record.id, record.tool, record.damaged) == ("window-1", None, None)


@pytest.mark.parametrize(
    "record",
    [
        observed(basis="skipped_read_only", changes=None, changed_files=None),
        observed(changes=[]),
        observed("t", change("a", operation="create"), change("b", operation="type_change")),
        observed("t", change("..a/b..", operation="delete", diff="binary")),
        observed(later_key={"x": [1]}),
        observed(root=None),
    ],
)
def test_valid(record: Any) -> None:
    assert convert_line(line(record)).damaged is None


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        *[
            (observed(**{name: None}), f"missing required field `{name}`")
            for name in ("schema", "id", "captured_by", "session", "stream", "time", "basis")
        ],
        *[
            (observed(**{name: ""}), f"{name} is empty")
            for name in ("id", "captured_by", "session", "stream", "time")
        ],
        *[
            ({**observed(), name: 7}, f"at `$.{name}`")
            for name in ("id", "tool", "time", "changes")
        ],
        (observed(schema="changes/2"), "schema is 'changes/2'"),
        (observed(basis="guessed"), "basis"),
        (observed(basis="runtime_reported", tool=None, id="x"), "names no tool"),
        (observed("t", {"operation": "modify", "diff": "binary"}), "`path`"),
        (observed("t", {"path": "a", "diff": "binary"}), "`operation`"),
        (observed("t", {"path": "a", "operation": "modify"}), "`diff`"),
        (observed("t", change(operation="explode")), "explode"),
        (observed("t", change(diff="maybe")), "maybe"),
        (observed("t", "a.py"), "at `$.changes[0]`"),
        (observed("t", change(), change("../x")), "path of change 1 leads out"),
    ],
)
def test_invalid_lines_are_kept_and_say_why(record: Any, reason: str) -> None:
    raw = line(record)
    found = convert_line(raw)
    assert found.damaged is not None
    assert reason in found.damaged
    row = landed(raw)
    assert [part["k"] for part in row["parts"]] == ["unknown"]
    assert kept(row) == raw
    assert not row.keys() & {"id", "tool", "time"}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" \t",
        b"\0" * 8,
        b"[]",
        b"7",
        b"not json",
        b"{}{}",
        line(observed())[:40],
        line(observed()) + b"x",
        b"\xef\xbb\xbf" + line(observed()),
        line(observed()).replace(b"a/b.py", b"\xff"),
        b"[" * 5000 + b"]" * 5000,
        line(observed())[:-1] + b',"x":' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
)
def test_what_is_no_object_is_kept(raw: bytes) -> None:
    found = convert_line(raw)
    assert found.damaged
    assert kept(landed(raw)) == raw


@pytest.mark.parametrize("value", [b'"\\ud800"', b"NaN", b"1e999", b"9" * 5000])
def test_what_a_strict_parser_refuses_keeps_its_joins(value: bytes) -> None:
    raw = line(observed("toolu_9"))[:-1] + b',"x":' + value + b"}"
    row = landed(raw)
    assert (row["id"], row["tool"], row["parts"][0]["k"]) == ("toolu_9", "toolu_9", "data")
    if len(row["parts"]) > 1:
        assert kept(row) == raw
    else:
        assert convert_line(raw).parts[0].data == raw


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("a", True),
        ("a/b c/é.py", True),
        (".hidden/..x", True),
        ("a\\b", True),
        ("", False),
        ("/a", False),
        ("\\a", False),
        ("\\\\host\\share", False),
        ("C:\\a", False),
        ("c:a", False),
        ("..", False),
        ("../a", False),
        ("a/../b", False),
        ("a/..", False),
        ("a\\..\\b", False),
        ("a\0b", False),
    ],
)
def test_paths_that_lead_out_of_the_workspace(path: str, below: bool) -> None:
    assert stays_below(path) is below
    assert (convert_line(line(observed("t", change(path)))).damaged is None) is below


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from([*observed(), "x"]), JSON),
    st.integers(0, 500),
    st.binary(max_size=3),
)
def test_every_line_becomes_one_record_that_lands(fields: Any, at: int, middle: bytes) -> None:
    whole = json.dumps({**observed(), **fields}).encode()
    for raw in (whole, whole[:at] + middle.replace(b"\n", b"") + whole[at:]):
        row = landed(raw)
        record = convert_line(raw)
        if record.damaged:
            assert kept(row) == raw
        else:
            assert (record.parts[0].k, record.flags, record.from_) == ("data", (), None)
