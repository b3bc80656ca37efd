"""One Session Data record, as an adapter hands it over. These are hot-path types: slotted, mutable."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Usage(NamedTuple):
    """Token counts of a provider call, as the runtime reported them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Dropped(NamedTuple):
    """Something that was understood and left out."""

    what: str
    size: int
    """Size of what was left out, in bytes of the source; written as ``bytes``."""
    why: str
    """At most 40 characters."""


@dataclass(slots=True)
class Part:
    """One piece of content.

    An adapter copies, it does not re-encode: ``data`` is a slice of the source's own JSON. The core
    checks it, and repairs what a strict parser would refuse (see docs/session-data.md).
    """

    k: str
    """``text``, ``reasoning``, ``call``, ``result``, ``media``, ``data`` or ``unknown``."""

    id: str | None = None
    """On a call: the tool-use id."""
    name: str | None = None
    """On a call: the tool's name."""
    of: str | None = None
    """On a result: the tool-use id it answers."""
    failed: bool | None = None
    """On a result: what the runtime said; ``None`` when it said nothing."""
    media: str | None = None
    """On media: the media type."""
    text: str | None = None
    """Readable text; on ``unknown`` the reason."""
    data: bytes | None = None
    """Raw JSON: the source's own bytes. On media the base64 as one JSON string. Never on ``unknown``."""
    state: str = "available"
    """``available``, ``truncated``, ``redacted``, ``omitted`` or ``unavailable``."""
    size: int = 0
    """Size of the original in bytes, written as ``bytes``: UTF-8 length of the value for text, reasoning and media; of the raw JSON
    for call input, result content and data. The core counts it for ``unknown``."""
    raw: bytes | None = None
    """The piece as it stood in the source. Required on ``unknown``, where it is the content; useful
    on a ``text`` that holds a lone surrogate, so that its exact bytes stay recoverable."""


@dataclass(slots=True)
class Record:
    """What one source record says, in the model's words. ``None`` and empty mean: the runtime did
    not say. The core adds position, size and digest."""

    rev: int | None = None
    """Revision, for a runtime that rewrites records in place; only ever grows."""
    id: str | None = None
    parent: str | None = None
    """The record this one hangs from."""
    call: str | None = None
    """Provider call it is a fragment of."""
    run: str | None = None
    """Agent loop it belongs to."""
    continues: str | None = None
    """On a context reset: the record the new context resumes from."""
    tool: str | None = None
    """Tool-use id stated outside the content."""
    child: str | None = None
    """Child stream it names."""
    batch: str | None = None
    """Group of children it names."""
    started_by: str | None = None
    """Stream that started this one."""
    label: str | None = None
    """A name the runtime gave."""
    from_: str | None = None
    """``agent``, ``external`` or ``runtime``."""
    time: str | None = None
    """As the runtime wrote it."""
    trigger: str | None = None
    """``external``, ``notification``, ``unknown``; ``None`` when the record states none."""
    flags: tuple[str, ...] = ()
    """Names from ``vocabulary.FLAGS``, in any order."""
    model: str | None = None
    usage: Usage | None = None
    request: str | None = None
    """Provider request id."""
    env: dict[str, str] | None = None
    """Working environment. Give it on every record that has one; the core writes changes only."""
    parts: list[Part] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    damaged: str | None = None
    """Why the source record could not be described; its bytes are then its one ``unknown`` part."""


class Converted(NamedTuple):
    """The result of one ``asz_convert`` call."""

    records: list[Record]
    """One for each raw record, same order."""
    carry: bytes = b""
    """What the next window of this source must know; 64 KiB at most."""


def damaged(raw: bytes, why: str) -> Record:
    """The record of a source record that cannot be described: all its bytes, and the reason."""
    return Record(parts=[Part("unknown", raw=raw, text=why)], damaged=why)
