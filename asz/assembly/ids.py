"""Ids of nodes, relations and open references: ``kind/part/part``, made of stable evidence only.

Two escapes keep them one-to-one. A part may hold anything, so ``%`` and ``/`` are escaped in it. An id
that stands inside another keeps its own escapes and loses its slashes, so that the outer id has the
number of parts its kind says.
"""

from asz.assembly.model import Ref
from asz.storage.rows import RecordRow


def part(text: str) -> str:
    """One part of an id: ``%`` as ``%25``, ``/`` as ``%2F``, nothing else changed."""
    if "%" in text or "/" in text:
        return text.replace("%", "%25").replace("/", "%2F")
    return text


def inside(whole: str) -> str:
    """A whole id as a part of another one: ``_`` as ``%5F``, then ``/`` as ``_``."""
    return whole.replace("_", "%5F").replace("/", "_")


def session(name: str) -> str:
    """The session's node."""
    return f"session/{part(name)}"


def stream(name: str) -> str:
    """A stream's node."""
    return f"stream/{part(name)}"


def epoch(stream_name: str, boundary: RecordRow | None) -> str:
    """A context epoch: the first of its stream, or the one ``boundary`` opened.

    A boundary without an id, or with one that reads like the first epoch's, is named by its place.
    """
    if boundary is None:
        return f"epoch/{part(stream_name)}/0"
    name = boundary.id
    if not name or name == "0":
        name = f"at_{boundary.seq}_{boundary.row}"
    return f"epoch/{part(stream_name)}/{part(name)}"


def talk(stream_name: str, run_name: str | None = None) -> str:
    """A talk of the main stream, named by the run that opened it; or a child stream's one talk."""
    if run_name is None:
        return f"talk/{part(stream_name)}"
    return f"talk/{part(stream_name)}/{part(run_name)}"


def run(container: str, run_name: str) -> str:
    """A run in the talk, or before any talk in the epoch, with the id ``container``."""
    return f"run/{inside(container)}/{part(run_name)}"


def call(name: str) -> str:
    """A provider call."""
    return f"call/{part(name)}"


def tool(name: str, place: str = "") -> str:
    """A tool use; ``place`` tells later uses of the same tool-use id apart."""
    return f"tool/{part(name)}{place}"


def at_part(prefix: str, record: RecordRow, block: int) -> str:
    """A node that is one part of a record."""
    return f"{prefix}/{record.seq}/{record.row}:{block}"


def at_record(prefix: str, record: RecordRow) -> str:
    """A node that is one record."""
    return f"{prefix}/{record.seq}/{record.row}"


def output(stream_name: str) -> str:
    """What a child stream returned."""
    return f"output/{part(stream_name)}"


def segment(first: Ref) -> str:
    """An activity window, named by where it opens."""
    return f"segment/at_{first.seq}_{first.row}"


def relation(type_: str, from_id: str, to_id: str) -> str:
    """A relation between two nodes."""
    return f"rel/{type_}/{inside(from_id)}/{inside(to_id)}"


def unresolved(kind: str, ref: str) -> str:
    """An open reference."""
    return f"unres/{kind}/{part(ref)}"
