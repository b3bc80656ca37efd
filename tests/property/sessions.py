"""Random sessions: everything assembly has a rule for, in any order, with links that may lead nowhere."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from asz.storage.rows import SessionRows
from asz.storage.times import format_ns
from asz_hookspecs.record import Part, Record, Usage

from ..support.landed import Landing
from ..support.rows import SECOND, START, Rows, call, result, text, thinking

CHILDREN = ("a1", "a2", "aside")
NAMES = [f"r{number}" for number in range(12)]
RUNS = ["p1", "p2", "p3", "r0", "r1"]
TOOLS = ["t1", "t2", "t3", "call_0"]
CALLS = ["m1", "m2", "m3"]
FLAGS = [
    "synthetic", "context_reset", "reset_summary", "finished", "external_input", "injected",
    "child_result", "error", "launch_ack", "turn_duration", "command", "notice", "inferred",
]  # fmt: skip


@dataclass
class File:
    """A landed file before it is one: what ``Rows.file`` and ``Rows.add`` take."""

    place: dict[str, Any]
    records: list[dict[str, Any]] = field(default_factory=list)


def maybe(values: list[str]) -> st.SearchStrategy[str | None]:
    return st.none() | st.sampled_from(values)


parts = st.lists(
    st.one_of(
        st.just(text()),
        st.just(thinking()),
        maybe(TOOLS).map(call),
        st.builds(result, maybe(TOOLS), failed=st.none() | st.booleans()),
    ),
    max_size=3,
).map(lambda found: tuple(part._replace(block=block) for block, part in enumerate(found)))

transcript = st.fixed_dictionaries(
    {"id_": maybe(NAMES), "parent": maybe(NAMES), "parts": parts},
    optional={
        "run": st.sampled_from(RUNS),
        "call": st.sampled_from(CALLS),
        "trigger": st.sampled_from(["external", "notification", "unknown"]),
        "flags": st.lists(st.sampled_from(FLAGS), max_size=2, unique=True),
        "from_": st.sampled_from(["agent", "external", "runtime"]),
        "continues": st.sampled_from(NAMES),
        "tool": st.sampled_from(TOOLS),
        "child": st.sampled_from(["a1", "a2", "never"]),
        "batch": st.sampled_from(["w1", "w2"]),
        "label": st.sampled_from(["one", "two"]),
        "rev": st.integers(0, 2),
        "usage": st.just((1, 2, 3, 4)),
        "at": st.integers(0, 3).map(lambda quarter: quarter * 660.5),
    },
)
journal = st.fixed_dictionaries(
    {"id_": st.none(), "child": st.sampled_from(["a1", "a2", "never"]), "batch": st.just("w1")},
    optional={"flags": st.just(["child_result"]), "label": st.sampled_from(["x", "y"])},
)
sidecar = st.fixed_dictionaries(
    {"id_": st.none(), "child": st.just("a1")},
    optional={"started_by": st.just("a2"), "label": st.just("said")},
)
manifest = st.fixed_dictionaries({"id_": st.none(), "batch": st.just("w1"), "label": st.just("w")})


def _files(
    place: dict[str, Any], records: st.SearchStrategy[dict[str, Any]], longest: int
) -> st.SearchStrategy[File]:
    found = st.lists(records, min_size=1, max_size=longest)
    return found.map(lambda those: File(place, those))


sessions = st.lists(
    st.one_of(
        _files({"stream": "main"}, transcript, 6),
        st.sampled_from(CHILDREN).flatmap(lambda name: _files({"stream": name}, transcript, 4)),
        _files({"kind": "journal", "batch": "w1"}, journal, 3),
        _files({"kind": "agent_meta", "stream": "a1"}, sidecar, 1),
        _files({"kind": "workflow_manifest", "batch": "w1"}, manifest, 1),
        _files({"kind": "changes", "stream": "main"}, transcript, 2),
    ),
    min_size=1,
    max_size=8,
)


def as_rows(files: list[File]) -> SessionRows:
    """The session as index rows."""
    rows = Rows()
    for file in files:
        rows.file(**file.place)
        for fields in file.records:
            rows.add(**_helped(file, fields))
    return rows.rows()


def land(files: list[File], landing: Landing) -> None:
    """The session as landed files."""
    for file in files:
        landing.write([_record(_helped(file, fields)) for fields in file.records], **file.place)


def _helped(file: File, fields: dict[str, Any]) -> dict[str, Any]:
    """A helper stream says that it is one on every record; only its first is asked."""
    if file.place.get("stream") == "aside":
        return {**fields, "flags": [*fields.get("flags", []), "auxiliary"]}
    return fields


def _record(fields: dict[str, Any]) -> Record:
    values = dict(fields)
    at, usage = values.pop("at", None), values.pop("usage", None)
    pieces = [
        Part(
            part.kind,
            id=part.id if part.kind == "call" else None,
            of=part.id if part.kind == "result" else None,
            name=part.name,
            failed=part.failed,
        )
        for part in values.pop("parts", ())
    ]
    return Record(
        id=values.pop("id_"),
        time=None if at is None else format_ns(START + int(at * SECOND)),
        usage=None if usage is None else Usage(*usage),
        flags=tuple(values.pop("flags", ())),
        parts=pieces,
        **values,
    )
