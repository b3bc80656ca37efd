"""Lines nobody should write: each gives one record, and no byte of it is lost."""

import base64
import json
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asz.storage.records import RecordWriter, record_sha
from asz_claude_code.convert import convert
from asz_hookspecs import Record, Source

from .lines import MAIN, assistant, child_source, dump, kinds, line, record, result, text, user
from .test_documents import JOURNAL, MANIFEST, SCRIPT, SIDECAR

SOURCES = [MAIN, child_source(), JOURNAL, SIDECAR, MANIFEST, SCRIPT]
DEEP = b"[" * 5000 + b"]" * 5000


def landed(raw: bytes, source: Source = MAIN) -> dict[str, Any]:
    """The line a record is written as, read by a strict parser."""
    return dict(orjson.loads(landed_line(raw, source)))


def landed_line(raw: bytes, source: Source = MAIN) -> bytes:
    """The line a record is written as."""
    (found,) = convert(source, [raw], b"").records
    return RecordWriter().encode(found, 1, 0, raw, record_sha(raw))


def kept_bytes(row: dict[str, Any]) -> list[bytes]:
    """What the unknown parts of a landed record hold."""
    return [
        base64.b64decode(part["data"]) if part.get("encoding") else part["data"].encode()
        for part in row["parts"]
        if part["k"] == "unknown"
    ]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" \t",
        b"\r",
        b"\0\0\0",
        b"words",
        b'{"type":"user","uuid":"torn',
        b'{"a":1}{"b":2}',
        b'{"a":1} x',
        b"[1]",
        b'"text"',
        b"7",
        b"null",
        b"NaN",
        b'{"type":"user","x":"\xff\xfe"}',
        b'{"uuid":"u1","x":"\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"type":"user"}',
        b'{"a":"nul \0 inside"}',
        b'{"a":"bare \r return"}',
        b'{"a":' + DEEP[:-1] + b"}",
        b'{"a":' + DEEP + b"} x",
        DEEP,
    ],
)
def test_what_is_no_object_is_one_unknown_part(raw: bytes) -> None:
    found = record(raw)
    assert found.damaged
    assert found == Record(parts=found.parts, damaged=found.damaged)
    assert kept_bytes(landed(raw)) == [raw]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b'"\\ud83d"', "lone surrogate"),
        (b"NaN", None),
        (b"[-Infinity]", None),
        (b"1e999", None),
        (b"9" * 400, None),
        (DEEP, None),
    ],
    ids=["surrogate", "nan", "infinity", "exponent", "digits", "deep"],
)
def test_identifiers_outlive_what_a_strict_parser_refuses(value: bytes, says: str | None) -> None:
    whole = b'{"type":"system","uuid":"u1","parentUuid":"p1","x":' + value + b"}"
    row = landed(whole)
    assert (row["id"], row["parent"]) == ("u1", "p1")
    if says:
        assert kept_bytes(row) == [whole]

    outcome = b'{"agentId":"a1","stdout":' + value + b"}"
    block = b'{"type":"tool_result","tool_use_id":"t1","content":"ok"}'
    raw = b'{"uuid":"u1","message":{"content":[' + block + b']},"toolUseResult":' + outcome + b"}"
    row = landed(raw)
    assert (row["id"], row["child"]) == ("u1", "a1")
    assert (row["parts"][0]["of"], row["parts"][0]["text"]) == ("t1", "ok")
    kept = kept_bytes(row)
    assert kept == ([outcome] if kept else [])
    if not kept:
        assert value in landed_line(raw)


def test_surrogate_in_a_text_keeps_its_place_and_its_bytes() -> None:
    block = b'{"type":"text","text":"half \\udcb2 \xf0\x9f\xab\x96"}'
    raw = (
        b'{"uuid":"u1","message":{"id":"m1","content":[' + block + b',{"type":"text","text":"b"}]}}'
    )
    row = landed(raw)
    assert row["call"] == "m1"
    assert [part["k"] for part in row["parts"]] == ["text", "text", "unknown"]
    assert row["parts"][0]["text"] == "half \ufffd \U0001fad6"
    assert kept_bytes(row) == [block]


def test_surrogate_in_text_and_outcome_keeps_both() -> None:
    block = b'{"type":"tool_result","tool_use_id":"t1","content":"a \\ud800"}'
    outcome = b'{"stdout":"b \\ud801"}'
    row = landed(b'{"message":{"content":[' + block + b']},"toolUseResult":' + outcome + b"}")
    assert sorted(kept_bytes(row)) == sorted([block, outcome])
    assert row["parts"][0]["text"] == "a \ufffd"
    assert row["parts"][0]["data"] == {"stdout": "b \ufffd"}


def test_surrogate_in_an_identifier() -> None:
    raw = b'{"type":"user","uuid":"u\\ud800","cwd":"/\\ud801","message":{"content":"x"}}'
    row = landed(raw)
    assert (row["id"], row["env"]["cwd"]) == ("u\ufffd", "/\ufffd")
    assert kept_bytes(row) == [b'"u\\ud800"', b'"/\\ud801"']


def test_wrong_types_cost_only_their_field() -> None:
    found = record(
        user(
            [{"type": "tool_result", "tool_use_id": "t1", "content": "x", "is_error": "yes"}],
            uuid=5,
            parentUuid="p1",
            isMeta={"a": 1},
            origin="human",
        )
    )
    assert (found.id, found.parent, found.parts[0].of) == (None, "p1", "t1")
    assert found.parts[0].failed is None
    assert [part.raw for part in found.parts[1:]] == [b'"yes"', b"5", b'{"a":1}', b'"human"']
    reasons = [part.text for part in found.parts[1:]]
    assert reasons == [
        "block 0: is_error: unexpected type",
        "uuid: unexpected type",
        "isMeta: unexpected type",
        "origin: unexpected type",
    ]


@pytest.mark.parametrize("count", [-1, 1.5, "7", 2**64, 10**400, True])
def test_token_counts_nobody_can_hold(count: Any) -> None:
    raw = dump(assistant(text("x"), usage={"input_tokens": count, "output_tokens": 3}))
    row = landed(raw)
    assert row["usage"] == {"out": 3}
    assert kept_bytes(row) == [dump(count)]


def test_keys_written_twice_on_a_line_read_leniently() -> None:
    raw = b'{"uuid":"a","uuid":"b","message":{"content":"x","content":"y"},"slug":"\\ud800"}'
    row = landed(raw)
    assert (row["id"], row["parts"][0]["text"]) == ("b", "y")
    assert kept_bytes(row)[:2] == [b'"a"', b'"x"']


def test_keys_written_twice_inside_a_slice_stay() -> None:
    raw = b'{"type":"system","uuid":"a","x":1,"x":2}'
    assert record(raw).parts[0].data == raw


def test_space_between_tokens() -> None:
    found = record(b' { "uuid" : "u1" , "message" : { "content" : [ { "type" : "odd" } ] } } \r')
    assert (found.id, found.parts[0].raw) == ("u1", b'{ "type" : "odd" }')


def test_nested_objects_of_the_wrong_type_leave_the_record_whole() -> None:
    for message in ("text", 7, [1]):
        raw = dump(line("user", message=message))
        found = record(raw)
        assert kinds(found) == ["data"]
        assert found.parts[0].data == raw


# ---------------------------------------------------------------- random input

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["user", "system", "text", "tool_use", "tool_result", "image", "human"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "kind", "data", "id", "source", "status"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
FIELDS = [
    "type",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "promptId",
    "timestamp",
    "subtype",
    "isMeta",
    "isSidechain",
    "origin",
    "isCompactSummary",
    "promptSource",
    "aiTitle",
    "requestId",
    "cwd",
    "gitBranch",
    "version",
    "slug",
    "attachment",
    "toolUseResult",
    "agentId",
    "result",
    "description",
    "name",
    "parentAgentId",
    "workflowName",
]
MESSAGE = ("id", "model", "stop_reason", "usage", "content")
BLOCK = [
    "type",
    "text",
    "thinking",
    "signature",
    "data",
    "id",
    "name",
    "input",
    "caller",
    "tool_use_id",
    "content",
    "is_error",
    "source",
]

blocks = st.dictionaries(st.sampled_from(BLOCK), JSON, max_size=6)
messages = st.fixed_dictionaries({"content": st.lists(blocks | JSON, max_size=4) | JSON}) | (
    st.dictionaries(st.sampled_from(MESSAGE), JSON, max_size=5)
)
lines = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8).flatmap(
    lambda fields: st.just(fields) | messages.map(lambda message: {**fields, "message": message})
)
raw_lines = lines.map(lambda value: json.dumps(value).encode())  # keeps NaN and lone surrogates
REAL = [
    dump(user("typed", origin={"kind": "human"}, promptId="p", cwd="/srv")),
    dump(assistant(text("hi"), {"type": "tool_use", "id": "t", "name": "Bash", "input": {"a": 1}})),
    dump(result([text("x")], {"status": "completed", "agentId": "a1", "stdout": "é"})),
    dump(
        result(
            "ok",
            {
                "filePath": "/srv/a",
                "oldString": "é",
                "newString": "f",
                "replaceAll": False,
                "originalFile": "dé\n",
                "structuredPatch": [{"oldStart": 1, "lines": ["+f"]}],
            },
        )
    ),
    dump(result("ok", {"notebook_path": "/n", "original_file": "{}", "updated_file": "{ }"})),
    dump(line("system", subtype="compact_boundary", logicalParentUuid="u0")),
    dump(line("attachment", attachment={"type": "queued_command", "prompt": [text("q")]})),
    dump({"type": "result", "agentId": "a1", "result": {"verdict": "x", "claims": [{}]}}),
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A real line with some bytes cut out, doubled or replaced."""
    raw = draw(st.sampled_from(REAL))
    start = draw(st.integers(0, len(raw)))
    end = draw(st.integers(start, min(len(raw), start + 12)))
    middle = draw(st.binary(max_size=6) | st.sampled_from([b"", b"\\ud800", b"NaN", b"null"]))
    return (raw[:start] + middle + raw[end:]).replace(b"\n", b"")


hostile = st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")) | raw_lines | mutated()


@settings(max_examples=400, deadline=None)
@given(st.lists(hostile, max_size=5), st.sampled_from(SOURCES))
def test_every_line_becomes_one_record_that_lands(raws: list[bytes], source: Source) -> None:
    found = convert(source, raws, b"").records
    assert len(found) == len(raws)
    writer = RecordWriter()
    for number, (one, raw) in enumerate(zip(found, raws, strict=True), 1):
        row = orjson.loads(writer.encode(one, number, 0, raw, record_sha(raw)))
        assert row["bytes"] == len(raw)
        if one.damaged:
            assert kept_bytes(row) == [raw]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(hostile, min_size=1, max_size=8),
    st.lists(st.integers(0, 8), max_size=3),
    st.sampled_from(
        [MAIN, child_source(), child_source("acompact-0123456789abcdef", auxiliary=True), JOURNAL]
    ),
)
def test_windows_may_be_cut_anywhere(raws: list[bytes], cuts: list[int], source: Source) -> None:
    whole, end = convert(source, raws, b"")
    places = sorted({0, len(raws), *(cut for cut in cuts if cut < len(raws))})
    carry = b""
    pieces: list[Record] = []
    for start, stop in pairwise(places):
        out, carry = convert(source, raws[start:stop], carry)
        pieces += out
    assert (pieces, carry) == (whole, end)


@settings(max_examples=200, deadline=None)
@given(blocks.map(lambda block: {**block, "type": "never seen"}), st.text(max_size=20))
def test_bytes_of_an_unknown_block_are_all_there(block: dict[str, Any], words: str) -> None:
    raw_block = json.dumps(block).encode()
    raw = b'{"uuid":"u1","message":{"content":[%s,%s]}}' % (
        raw_block,
        json.dumps(text(words)).encode(),
    )
    row = landed(raw)
    assert kept_bytes(row)[0] == raw_block
    assert row["id"] == "u1"


@pytest.mark.parametrize(
    "fields",
    [
        b'"message":{"content":"FIRST"},"message":{"content":"second"}',
        b'"message": {"content": "FIRST"}, "message": {"content": "second"}',
        b'"message":{"content":"FIRST","content":[{"type":"text","text":"second"}]}',
        b'"message":{"content":"FIRST"},"attachment":{"content":"x"},"message":{"content":"second"}',
        b'"uuid":"FIRST","message":{"content":"x"},"uuid":"second"',
        b'"uuid":"FIRST","uuid":"second","message":{"content":"x"}',
        b'"attachment":{"type":"FIRST"},"attachment":{"type":"second"}',
        b'"toolUseResult":{"a":"FIRST"},"message":{"content":"x"},"toolUseResult":"second"',
    ],
)
def test_a_key_written_twice_keeps_both_values(fields: bytes) -> None:
    row = landed(b'{"type":"user",%b}' % fields)
    assert any(b"FIRST" in kept for kept in kept_bytes(row))
    assert "second" in json.dumps(row)


def test_the_same_key_deeper_is_not_written_twice() -> None:
    row = landed(
        b'{"type":"user","attachment":{"uuid":"a","content":"b"},"message":{"content":"x"},"uuid":"c"}'
    )
    assert kept_bytes(row) == []
    assert row["id"] == "c"
