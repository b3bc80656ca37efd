"""An adapter whose names, paths and counts are not to be trusted.

One of its sessions is fine; everything else must be refused without a byte written.
``ASZ_TEST_HOSTILE=count`` makes the conversion give one record too few,
``ASZ_TEST_HOSTILE=carry`` makes it give a carry nobody keeps.
"""

import os

from asz_hookspecs import (
    AdapterInfo,
    Converted,
    Discovery,
    Part,
    RawRecord,
    Record,
    Session,
    Source,
    Term,
    hookimpl,
)
from asz_hookspecs.vocabulary import GLOSSARY

ASZ_CONTRACT = 1

SESSIONS = (
    "../escape",
    "/tmp/escape",
    "",
    ".",
    "..",
    "a/b",
    "_conversations",
    "a\0b",
    "x" * 300,
    7,
)
STREAMS = ("../../escape", "", ".", "a/b", "-rf", "\u202eevil", "con")
PATHS = ("../escape.jsonl", "/etc/passwd", "a/../../b", "", "a//b", "a\0b")


def _source(src="log", stream="main", **other):
    return Source(src=src, kind="transcript", shape="custom", stream=stream, **other)


@hookimpl
def asz_adapter():
    return AdapterInfo(version="0.1", runtime="Hostile Agent", dialect="hostile/1")


@hookimpl
def asz_discover():
    bad = [
        *(_source(stream=stream) for stream in STREAMS),
        *(_source(src=src, stream="other") for src in PATHS),
        _source(stream=None, batch=None),
        _source(stream="other", batch="both"),
    ]
    return Discovery(
        (
            *(Session(name, (_source(),)) for name in SESSIONS),
            Session("hostile-session", (_source(), *bad)),
        ),
        roots=("/hostile/\x1b[31m\u202e",),
    )


@hookimpl
def asz_land(position):
    if not position:
        yield RawRecord(b'"kept"', b"1")


@hookimpl
def asz_convert(records):
    how = os.environ.get("ASZ_TEST_HOSTILE", "")
    given = records[1:] if how == "count" else records
    carry = b"x" * 100_000 if how == "carry" else b""
    return Converted(
        [Record(parts=[Part("data", data=raw, size=len(raw))]) for raw in given], carry
    )


@hookimpl
def asz_glossary():
    return [Term(name, "\x1b[31mred\u202e", "") for name in GLOSSARY]
