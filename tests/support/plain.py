"""The smallest real adapter: a directory a session, a file a source, a line a record."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from asz.collect.passes import Collector, Pass
from asz.collect.work import Limits, entries_of
from asz.storage.cursors import Cursor, read_cursors
from asz.storage.landed import landed_names
from asz.storage.root import Root
from asz.storage.sd import LandedRecord, SdFile, read_file
from asz_hookspecs import (
    AdapterInfo,
    Converted,
    Discovery,
    Followed,
    Part,
    Problem,
    RawRecord,
    Record,
    Session,
    Source,
)


class Plain:
    """Reads ``<root>/<session>/<stream>.jsonl`` as lines, ``<stream>.json`` as documents, and lists of
    bytes as custom sources. The carry counts the records converted so far."""

    options: Any = None

    def __init__(
        self, root: Path, name: str = "plain", runtime: str = "Plain", label: str = ""
    ) -> None:
        self.root, self.name, self.label = root, name, label
        self.info = AdapterInfo(version="1", runtime=runtime, dialect="plain/1")
        self.stores: dict[tuple[str, str], list[bytes]] = {}
        """Records of custom sources by session and stream."""
        self.converted: list[tuple[str, int, bytes]] = []
        """Every window: source, records, carry."""
        self.complete = True
        self.hidden: tuple[str, ...] = ()

    def discover(self, _options: Any, _followed: Followed) -> Discovery:
        sessions: dict[str, list[Source]] = {}
        for path in sorted(self.root.glob("*/*.json*")) if self.root.is_dir() else ():
            lines = path.suffix == ".jsonl"
            source = Source(
                src=path.relative_to(self.root).as_posix(),
                kind="transcript" if lines else "agent_meta",
                shape="lines" if lines else "document",
                root=str(self.root),
                stream=path.stem.split("@")[0],
            )
            sessions.setdefault(path.parent.name.split("@")[0], []).append(source)
        for session, stream in self.stores:
            source = Source(src=f"db/{stream}", kind="transcript", shape="custom", stream=stream)
            sessions.setdefault(session, []).append(source)
        return Discovery(
            tuple(Session(name, tuple(sources)) for name, sources in sessions.items()),
            roots=(str(self.root),),
            problems=tuple(Problem(f"{prefix}: hidden", prefix) for prefix in self.hidden),
            complete=self.complete,
        )

    def land(self, _options: Any, source: Source, position: bytes) -> Any:
        start = int(position or b"0")
        for (_session, stream), store in self.stores.items():
            if stream == source.stream:
                for place, data in enumerate(store[start:], start + 1):
                    yield RawRecord(data, str(place).encode())

    def convert(self, source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
        self.converted.append((source.src, len(records), carry))
        out = []
        for number, raw in enumerate(records, int(carry or b"0") + 1):
            out.append(Record(run=str(number), parts=[Part("unknown", raw=raw, text="plain")]))
        return Converted(out, str(int(carry or b"0") + len(records)).encode())


class Place:
    """A source root and a storage root."""

    def __init__(self, home: Path) -> None:
        self.source, self.root = home / "source", home / "root"
        self.source.mkdir(parents=True)
        self.adapter = Plain(self.source)
        self.adapters: list[Plain] = [self.adapter]
        self.limits = Limits()

    def write(self, name: str, data: bytes) -> Path:
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, name: str, data: bytes) -> None:
        with (self.source / name).open("ab") as handle:
            handle.write(data)

    def collect(self) -> Pass:
        for adapter in self.adapters:
            adapter.converted.clear()
        root = Root.open(self.root, write=True)
        return Collector(root, entries_of(self.adapters), dict, self.limits, None).run()

    def files(self, session: str = "s") -> list[SdFile]:
        directory = self.root / session
        return [read_file(directory / name.path) for name in landed_names(directory)]

    def records(self, session: str = "s") -> list[LandedRecord]:
        return [record for file in self.files(session) for record in file.records()]

    def raw(self, session: str = "s") -> list[bytes]:
        """The source bytes of every landed record."""
        return [json.loads(bytes(r.parts[0].data)).encode() for r in self.records(session)]

    def cursor(self, src: str = "s/main.jsonl", session: str = "s") -> Cursor:
        found = read_cursors(self.root / session).values()
        return next(cursor for cursor in found if cursor.src == src)
