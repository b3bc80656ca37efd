"""A complete adapter of an invented runtime, which keeps two kinds of history.

``<source_root>/<session>.jsonl`` is a file of lines, read by asz itself. ``<source_root>/history.json`` is
a store of child streams that only this adapter can read. In both a record is a JSON object with
``id``, ``parent``, ``from`` and ``text``.
"""

import json
from pathlib import Path

from asz_hookspecs import (
    AdapterError,
    AdapterInfo,
    Converted,
    Discovery,
    Part,
    RawRecord,
    Record,
    Session,
    Source,
    SourceError,
    Term,
    damaged,
    hookimpl,
)
from asz_hookspecs.vocabulary import GLOSSARY

ASZ_CONTRACT = 1


@hookimpl
def asz_adapter():
    return AdapterInfo(
        version="0.1",
        runtime="Working Agent",
        dialect="working/1",
        options="asz_test_working_options:Options",
    )


@hookimpl
def asz_discover(options):
    if not options.source_root:
        return Discovery(())
    root = Path(options.source_root)
    if not root.is_dir():
        raise AdapterError(f"{root}: no such directory, source_root names it")
    sources: dict[str, list[Source]] = {}
    for path in root.glob("*.jsonl"):
        source = Source(
            src=path.name, root=str(root), kind="transcript", shape="lines", stream="main"
        )
        sources.setdefault(path.stem, []).append(source)
    for session, stream in _streams(root / "history.json"):
        source = Source(
            src=f"history.json/{session}/{stream}",
            root=str(root),
            kind="transcript",
            shape="custom",
            stream=stream,
        )
        sources.setdefault(session, []).append(source)
    return Discovery(
        tuple(Session(name, tuple(items)) for name, items in sources.items()), roots=(str(root),)
    )


def _streams(path):
    if not path.exists():
        return []
    return list(dict.fromkeys((session, stream) for session, stream, _ in _events(path)))


def _events(path):
    """Triples of session, stream and record, in the order they happened."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error


@hookimpl
def asz_land(options, source, position):
    path, session, stream = source.src.split("/")
    done = int(position or b"0")
    for number, event in enumerate(_events(Path(options.source_root) / path), 1):
        if number > done and event[:2] == [session, stream]:
            yield RawRecord(json.dumps(event[2]).encode(), b"%d" % number)


@hookimpl
def asz_convert(records):
    return Converted([_record(raw) for raw in records])


def _record(raw):
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        return damaged(raw, f"not JSON: {type(error).__name__}")
    if not isinstance(value, dict):
        return damaged(raw, "not an object")
    text = value.get("text")
    if not isinstance(text, str):
        return Record(id=_text(value.get("id")), parts=[Part("data", data=raw, size=len(raw))])
    size = len(text.encode("utf-8", "surrogatepass"))
    person = value.get("from") == "person"
    return Record(
        id=_text(value.get("id")),
        parent=_text(value.get("parent")),
        run=_text(value.get("id")) if person else None,
        call=None if person else _text(value.get("id")),
        from_="external" if person else "agent",
        trigger="external" if person else None,
        flags=("external_input",) if person else ("finished",),
        parts=[Part("text", text=text, size=size, raw=raw)],
    )


def _text(value):
    return value if isinstance(value, str) else None


@hookimpl
def asz_glossary():
    words = {"message.external": Term("message.external", "person", "from")}
    return [words.get(name, Term(name, "", "")) for name in GLOSSARY]
