import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz.assembly.model import Node, Ref, Relation, Unresolved
from asz.errors import FormatError
from asz.flow.sf import (
    SCHEMA,
    Frames,
    RoundHeader,
    decode_round,
    encode_frame,
    encode_round,
    file_name,
)

PATH = Path("r000001-0.sf")

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
refs = st.builds(Ref, st.integers(1, 99), st.integers(1, 99), st.none() | st.integers(0, 3))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
nodes = st.builds(
    Node,
    words,
    st.integers(1, 9),
    words,
    st.none() | words,
    st.none() | words,
    st.none() | refs,
    st.lists(refs, max_size=3).map(tuple),
    st.dictionaries(words, values, max_size=4),
    st.booleans(),
)
relations = st.builds(
    Relation, words, st.integers(1, 9), words, words, words, words, words, st.tuples(refs)
)
unresolved = st.builds(
    Unresolved, words, st.integers(1, 9), words, words, words, st.sampled_from(["open", "resolved"])
)


def header(**fields: object) -> RoundHeader:
    values = {"schema": SCHEMA, "conversation": "c", "session": "s", "round": 1, "from_seq": 1}
    values |= {"through_seq": 2, "input_digest": "0", "parser": "v1", "policy": "p"}
    counts = dict.fromkeys(("talks", "steps", "streams", "segments", "unresolved"), 0)
    return RoundHeader(**(values | counts | fields))  # type: ignore[arg-type]


def seal(body: bytes, nodes: int = 0, relations: int = 0) -> bytes:
    counts = {"nodes": nodes, "relations": relations, "unresolved": 0}
    commit = {"t": "commit", "digest": hashlib.sha256(body).hexdigest(), "counts": counts}
    return body + json.dumps(commit).encode() + b"\n"


@given(
    st.lists(nodes, max_size=4, unique_by=lambda frame: frame.id),
    st.lists(relations, max_size=4, unique_by=lambda frame: frame.id),
    st.lists(unresolved, max_size=4, unique_by=lambda frame: frame.id),
)
def test_what_is_written_is_read(
    some: list[Node], others: list[Relation], more: list[Unresolved]
) -> None:
    frames = Frames(some, others, more)
    frames.sort()
    data, digest = encode_round(header(title="t"), frames)
    found = decode_round(PATH, data)
    assert (found.header, found.frames, found.digest) == (header(title="t"), frames, digest)
    assert encode_round(found.header, found.frames) == (data, digest)


def test_keys_are_in_the_order_of_the_format() -> None:
    ref = Ref(1, 2, 0)
    attrs = {"b": {"z": 1, "a": 2}, "B": 1, "a": "é"}
    node = Node("msg/1/2:0", 3, "message.assistant", "call/m", "main", ref, (ref,), attrs)
    assert encode_frame(node).decode() == (
        '{"t":"node","id":"msg/1/2:0","revision":3,"kind":"message.assistant","parent":"call/m",'
        '"stream":"main","ref":{"seq":1,"row":2,"block":0},"refs":[{"seq":1,"row":2,"block":0}],'
        '"attrs":{"B":1,"a":"é","b":{"a":2,"z":1}}}'
    )
    relation = Relation("rel/a", 1, "starts", "x", "y", "exact_unique", "run journal", (Ref(1, 1),))
    assert encode_frame(relation).decode() == (
        '{"t":"relation","id":"rel/a","revision":1,"type":"starts","from":"x","to":"y",'
        '"quality":"exact_unique","via":"run journal","evidence":[{"seq":1,"row":1}]}'
    )
    entry = Unresolved("unres/tool_use/t", 1, "tool_use", "t", "why", "open")
    assert encode_frame(entry).decode() == (
        '{"t":"unresolved","id":"unres/tool_use/t","revision":1,"kind":"tool_use","ref":"t",'
        '"reason":"why","state":"open"}'
    )
    gone = Node("talk/a", 4, tombstone=True)
    assert encode_frame(gone) == b'{"t":"node","id":"talk/a","revision":4,"tombstone":true}'


def test_a_header_leaves_out_what_has_no_value_and_keeps_zero() -> None:
    data, digest = encode_round(header(), Frames())
    first, last = (json.loads(line) for line in data.splitlines())
    assert list(first) == [
        "t", "schema", "conversation", "session", "round", "from_seq", "through_seq",
        "input_digest", "parser", "policy", "talks", "steps", "streams", "segments", "unresolved",
    ]  # fmt: skip
    assert last["digest"] == digest == hashlib.sha256(data.splitlines(True)[0]).hexdigest()
    assert file_name(7, digest) == f"r000007-{digest[:12]}.sf"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[:-1], "no commit line"),
        (lambda data: data.split(b"\n")[0] + b"\n", "no commit line"),
        (lambda data: b"", "no commit line"),
        (lambda data: data.replace(b"kind-a", b"kind-b"), "digest does not match"),
        (lambda data: data.replace(b'"nodes":2', b'"nodes":1'), "counts other frames"),
    ],
)
def test_a_damaged_round_is_refused_by_name(damage: object, said: str) -> None:
    frames = Frames([Node("a", 1, "kind-a"), Node("b", 1, "kind-b")])
    data, _ = encode_round(header(), frames)
    with pytest.raises(FormatError, match=rf"^r000001-0\.sf: .*{said}"):
        decode_round(PATH, damage(data))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("lines", "relations", "said"),
    [
        ([b'{"t":"node","id":"b"}', b'{"t":"node","id":"a"}'], 0, "sorted"),
        ([b'{"t":"node","id":"a"}', b'{"t":"node","id":"a"}'], 0, "sorted"),
        ([b'{"t":"relation","id":"a"}', b'{"t":"node","id":"b"}'], 1, "order nodes"),
        ([b'{"t":"edge","id":"a"}', b'{"t":"node","id":"b"}'], 0, "no sf/1 frame"),
        ([b"{}", b"\xff"], 0, "no sf/1 frame"),
    ],
)
def test_frames_out_of_order_are_refused(lines: list[bytes], relations: int, said: str) -> None:
    first = encode_round(header(), Frames())[0].splitlines()[0]
    data = seal(b"\n".join([first, *lines, b""]), 2 - relations, relations)
    with pytest.raises(FormatError, match=said):
        decode_round(PATH, data)


def test_another_format_is_refused_by_its_name() -> None:
    data, _ = encode_round(header(schema="sf/2"), Frames())
    with pytest.raises(FormatError, match="not an sf/1 file but 'sf/2'"):
        decode_round(PATH, data)
