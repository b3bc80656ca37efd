"""What hooks may return. The types say it, but an adapter is somebody else's code.

Every function either gives back a value of the right shape or raises ``TypeError`` / ``ValueError``; the
caller runs it inside the adapter's guard.
"""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any, Final, get_args

from asz.storage.names import safe_component, safe_src
from asz.storage.times import LATEST_NS
from asz_hookspecs import (
    AdapterInfo,
    Converted,
    Discovery,
    MetricPoint,
    Problem,
    RawRecord,
    Record,
    Session,
    Source,
    Term,
)
from asz_hookspecs.source import Compression, Shape, SourceKind

MAX_STATE: Final = 64 * 1024
"""Largest carry or position, in bytes: it is stored with a cursor and handed back every pass."""

_KINDS: Final = frozenset(get_args(SourceKind))
_SHAPES: Final = frozenset(get_args(Shape))
_COMPRESSIONS: Final = frozenset(get_args(Compression))
_OF_A_BATCH: Final = frozenset(("journal", "workflow_manifest", "workflow_script"))


def _is(value: Any, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{what} is a {type(value).__name__}, not a {kind.__name__}")


def check_info(info: Any) -> AdapterInfo:
    """An ``AdapterInfo`` whose texts are texts."""
    _is(info, AdapterInfo, "what asz_adapter returned")
    for name in ("version", "runtime", "dialect"):
        text = getattr(info, name)
        _is(text, str, name)
        if not text or not text.isprintable():
            raise ValueError(f"{name} {text!r} is no display name")
    for name in ("joins", "options", "sample", "meters"):
        if getattr(info, name) is not None:
            _is(getattr(info, name), str, name)
    _is(info.default_enabled, bool, "default_enabled")
    _is(info.metrics_default, bool, "metrics_default")
    _is(info.service_name, str, "service_name")
    return info  # type: ignore[no-any-return]


def check_discovery(found: Any, adapter: str) -> Discovery:
    """A ``Discovery`` without the sessions and sources whose names are refused; each refusal is a
    problem of the pass that names ``adapter``, and hides what it names."""
    _is(found, Discovery, "what asz_discover returned")
    refused: list[Problem] = []
    sessions = tuple(_sessions(found.sessions, refused))
    named = (replace(one, message=f"adapter {adapter}: {one.message}") for one in refused)
    return Discovery(
        sessions=sessions,
        roots=_texts(found.roots, "roots"),
        problems=(*map(_problem, found.problems), *named),
        skipped=_texts(found.skipped, "skipped"),
        notes=_texts(found.notes, "notes"),
        complete=bool(found.complete),
    )


def _sessions(sessions: Iterable[Any], refused: list[Problem]) -> Iterable[Session]:
    for session in sessions:
        _is(session, Session, "a session")
        if not safe_component(session.id):
            refused.append(Problem(f"session id {session.id!r} refused: not a safe directory name"))
            continue
        sources = []
        for source in session.sources:
            _is(source, Source, "a source")
            reason = _refusal(source)
            if reason is None:
                sources.append(source)
            else:
                message = f"session {session.id}: source {source.src!r} refused: {reason}"
                refused.append(
                    Problem(message, source.src if isinstance(source.src, str) else None)
                )
        yield Session(session.id, tuple(sources))


def _refusal(source: Source) -> str | None:
    """Why the core does not read a source."""
    if not safe_src(source.src):
        return "not a path below the source root"
    if (source.stream is None) == (source.batch is None):
        return "names both a stream and a batch, or neither"
    if not safe_component(source.stream if source.batch is None else source.batch):
        return f"{source.stream or source.batch!r} is not a safe directory name"
    if source.kind not in _KINDS or source.shape not in _SHAPES:
        return f"kind {source.kind!r} or shape {source.shape!r} is unknown"
    if source.compression not in _COMPRESSIONS:
        return f"compression {source.compression!r} is unknown"
    if (source.kind in _OF_A_BATCH) != (source.batch is not None):
        return f"a {source.kind} belongs to a {'batch' if source.batch is None else 'stream'}"
    if source.shape != "custom" and not _absolute(source.root):
        return f"root {source.root!r} is not an absolute directory with a UTF-8 name"
    if not isinstance(source.key, str):
        return f"key {source.key!r} is no text"
    return None


def _absolute(root: Any) -> bool:
    return isinstance(root, str) and _absolute_text(root)


@lru_cache(maxsize=64)  # thousands of sources share a root
def _absolute_text(root: str) -> bool:
    if "\0" in root or not Path(root).is_absolute():
        return False
    return root == root.encode("utf-8", "replace").decode()


def _problem(problem: Any) -> Problem:
    _is(problem, Problem, "a problem")
    _is(problem.message, str, "a problem's message")
    if problem.hides is not None:
        _is(problem.hides, str, "a problem's prefix")
    return problem  # type: ignore[no-any-return]


def _texts(values: Iterable[Any], what: str) -> tuple[str, ...]:
    texts = tuple(values)
    for text in texts:
        _is(text, str, f"one of {what}")
    return texts


def check_raw(record: Any) -> RawRecord:
    """One record of a custom source."""
    _is(record, RawRecord, "what asz_land yielded")
    _is(record.data, bytes, "a record's data")
    _state(record.position, "position")
    return record  # type: ignore[no-any-return]


def check_converted(converted: Any, expected: int) -> Converted:
    """As many records as were given. What is in them is checked where they are encoded."""
    _is(converted, Converted, "what asz_convert returned")
    records = converted.records
    _is(records, list, "records")
    if len(records) != expected:
        raise ValueError(f"{len(records)} records for {expected} raw ones")
    if not all(type(record) is Record for record in records):
        raise TypeError("records holds something that is no Record")
    _state(converted.carry, "carry")
    return converted  # type: ignore[no-any-return]


def _state(value: Any, what: str) -> None:
    _is(value, bytes, what)
    if len(value) > MAX_STATE:
        raise ValueError(f"{what} of {len(value)} bytes, at most {MAX_STATE} are kept")


def check_points(points: Any) -> tuple[MetricPoint, ...]:
    """Increments of sums: finite numbers, not negative, with plain attributes."""
    out = tuple(points)
    for point in out:
        _is(point, MetricPoint, "a metric point")
        for name in ("name", "description", "unit"):
            _is(getattr(point, name), str, f"a point's {name}")
        _is(point.time, int, "a point's time")
        if not 0 <= point.time <= LATEST_NS:
            raise ValueError(f"{point.name!r}: {point.time} is no time since the epoch")
        if not point.name or type(point.value) not in (int, float) or not 0 <= point.value < inf:
            raise ValueError(f"{point.name!r}: {point.value!r} is no increment of a sum")
        for key, value in point.attributes.items():
            if type(key) is not str or type(value) not in (str, bool, int, float):
                raise TypeError(f"attribute {key!r} is not a plain value")
            if type(value) is int and not -(2**63) <= value < 2**63:
                raise ValueError(f"attribute {key!r} is beyond 64 bits")
    return out


def check_receiver(receiver: Any) -> AbstractAsyncContextManager[None]:
    """Something that can be entered in an event loop."""
    _is(receiver, AbstractAsyncContextManager, "what asz_receive returned")
    return receiver  # type: ignore[no-any-return]


def check_terms(terms: Any) -> tuple[Term, ...]:
    """The entries of a glossary."""
    out = tuple(terms)
    for term in out:
        _is(term, Term, "a term")
        for text in term:
            _is(text, str, "a term's text")
    return out
