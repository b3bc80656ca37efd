"""What is written is strict JSON that any parser reads, and gives the source's bytes back."""

import base64
import json

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz.storage.records import RecordWriter, record_sha, replace_lone_surrogates
from asz.storage.sd import LandedRecord
from asz_hookspecs import Dropped, Part, Record, Usage


def written(record: Record, raw: bytes = b"raw") -> bytes:
    return RecordWriter().encode(record, 1, 0, raw, record_sha(raw))


def decoded(record: Record, raw: bytes = b"raw") -> LandedRecord:
    return msgspec.json.decode(written(record, raw), type=LandedRecord)


def test_keys_stand_in_the_order_of_the_format() -> None:
    record = Record(
        rev=3, id="i", parent="p", call="c", run="r", continues="n", tool="t", child="h", batch="b",
        started_by="s", label="l", from_="agent", time="2026-01-01T00:00:00Z", trigger="external",
        flags=("inferred", "synthetic"), model="m", usage=Usage(1, 0, 3, 0), request="q",
        env={"cwd": "/x"}, parts=[Part("text", text="t", size=1)], dropped=[Dropped("w", 2, "y")],
    )  # fmt: skip
    assert list(json.loads(written(record))) == [
        "ord", "off", "sha", "bytes", "rev", "id", "parent", "call", "run", "continues", "tool", "child",
        "batch", "started_by", "label", "from", "time", "trigger", "flags", "model", "usage", "request",
        "env", "parts", "dropped",
    ]  # fmt: skip
    value = json.loads(written(record))
    assert value["flags"] == ["synthetic", "inferred"]
    assert value["usage"] == {"in": 1, "cache_read": 3}
    assert value["bytes"] == 3


def test_part_keys_stand_in_the_order_of_the_format() -> None:
    part = Part("result", id="i", name="n", of="o", failed=False, media="m", text="t", data=b"1")
    assert list(json.loads(written(Record(parts=[part])))["parts"][0]) == [
        "k", "id", "name", "of", "failed", "media", "text", "data", "state", "bytes",
    ]  # fmt: skip
    unknown = json.loads(written(Record(parts=[Part("unknown", raw=b"\xff", text="why")])))[
        "parts"
    ][0]
    assert list(unknown) == ["k", "text", "encoding", "data", "state", "bytes"]


def test_source_json_is_embedded_as_it_stands() -> None:
    piece = b'{ "b":1.0e1 ,"a":"\\u00e9\\/", "a":[ ] }'
    assert piece in written(Record(parts=[Part("data", data=piece)]))


def test_line_ends_between_tokens_are_left_out() -> None:
    line = written(Record(parts=[Part("data", data=b'{\r\n  "a":\n 1}\n')]))
    assert line.count(b"\n") == 1
    assert b'{  "a": 1}' in line


@pytest.mark.parametrize(
    ("piece", "mended", "reason"),
    [
        (b'{"a":"x\\ud83d"}', b'{"a":"x\\ufffd"}', "lone surrogate"),
        (b'["\\uDC00\\ud83d\\ude00"]', b'["\\ufffd\\ud83d\\ude00"]', "lone surrogate"),
        (b'["\\\\ud83d","\\ud83d"]', b'["\\\\ud83d","\\ufffd"]', "lone surrogate"),
        (b"[1e999]", b'"[1e999]"', "infinity"),
        (b"9" * 400, b'"' + b"9" * 400 + b'"', "infinity"),
        (b"NaN", b'"NaN"', "unexpected character"),
        (b"[" * 2000 + b"]" * 2000, b'"' + b"[" * 2000 + b"]" * 2000 + b'"', "depth"),
    ],
    ids=["high", "low", "escaped backslash", "exponent", "digits", "nan", "deep"],
)
def test_what_a_strict_parser_refuses_is_mended_and_its_source_follows(
    piece: bytes, mended: bytes, reason: str
) -> None:
    record = decoded(Record(parts=[Part("data", data=piece), Part("text", text="after")]))
    first, second, kept = record.parts
    assert bytes(first.data) == mended
    assert (first.k, first.state, second.text) == ("data", "available", "after")
    assert kept.k == "unknown"
    assert orjson.loads(bytes(kept.data)).encode() == piece
    assert "block 0" in (kept.text or "")
    assert reason in (kept.text or "")


def test_a_text_with_a_lone_surrogate_keeps_its_source() -> None:
    part = Part("text", text="a\udcb2b", raw=b'"a\\udcb2b"', size=5)
    text, kept = decoded(Record(parts=[part])).parts
    assert text.text == "a\ufffdb"
    assert orjson.loads(bytes(kept.data)) == '"a\\udcb2b"'


def test_names_with_lone_surrogates_are_written_and_the_record_says_the_same() -> None:
    record = Record(
        id="\ud800", label="x\udfff", env={"cwd": "\ud801"}, parts=[Part("call", id="\ud800")]
    )
    landed = decoded(record)
    assert (landed.id, landed.label, landed.env) == ("\ufffd", "x\ufffd", {"cwd": "\ufffd"})
    assert (record.id, record.parts[0].id) == ("\ufffd", "\ufffd")


def test_a_mended_record_is_not_mended_twice() -> None:
    record = Record(label="\ud800", parts=[Part("data", data=b'"\\ud800"')])
    assert [part.k for part in decoded(record).parts] == ["data", "unknown"]
    assert [part.k for part in record.parts] == ["data", "unknown"]


def test_a_record_that_is_written_again_at_a_cut_says_the_same() -> None:
    record = Record(
        label="\ud800", parts=[Part("data", data=b'"\\ud800"'), Part("data", data=b"NaN")]
    )
    first = written(record)
    assert written(record) == first
    assert [part.k for part in decoded(record).parts] == ["data", "data", "unknown", "unknown"]


def test_a_reason_for_leaving_out_is_at_most_40_characters() -> None:
    (dropped,) = decoded(Record(dropped=[Dropped("w", 2, "y" * 41)])).dropped
    assert dropped.why == "y" * 40


def test_the_environment_is_written_where_it_changes() -> None:
    writer = RecordWriter()
    envs = [{"cwd": "/a"}, {"cwd": "/a"}, None, {"cwd": "/b"}, {"cwd": "/a"}]
    lines = [json.loads(writer.encode(Record(env=env), 1, 0, b"", record_sha(b""))) for env in envs]
    assert [line.get("env") for line in lines] == [
        {"cwd": "/a"},
        None,
        None,
        {"cwd": "/b"},
        {"cwd": "/a"},
    ]


@given(st.binary())
def test_any_bytes_come_back_from_an_unknown_part(raw: bytes) -> None:
    (part,) = decoded(Record(parts=[Part("unknown", raw=raw, text="why")]), raw).parts
    held = orjson.loads(bytes(part.data))
    assert (base64.b64decode(held) if part.encoding == "base64" else held.encode()) == raw
    assert part.size == len(raw)


@given(st.binary())
def test_any_bytes_as_data_land_as_strict_json(raw: bytes) -> None:
    line = written(Record(parts=[Part("data", data=raw)]))
    orjson.loads(line)
    json.loads(line.decode())
    assert line.count(b"\n") == 1


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_lands(text: str) -> None:
    landed = decoded(Record(label=text, parts=[Part("text", text=text)]))
    clean = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert (landed.label, landed.parts[0].text) == (clean, clean)


@given(st.text(alphabet='\\ud8dcDC0039aF"', max_size=30))
def test_mending_keeps_the_length(text: str) -> None:
    raw = text.encode()
    assert len(replace_lone_surrogates(raw)) == len(raw)
