"""A collected root, read back for a test."""

import base64
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asz.collect.passes import Collector, Pass
from asz.collect.work import Limits, entries_of
from asz.flow.keeping import ChainKeeper
from asz.jsonio import decode
from asz.metrics.calls import calls_of
from asz.plugins import Adapter
from asz.storage.index import load
from asz.storage.landed import landed_names
from asz.storage.root import Root
from asz.storage.sd import Header, LandedRecord, read_file
from asz_hookspecs import FinishedCall


@dataclass(frozen=True, slots=True)
class LandedLine:
    """One landed record, typed and as plain JSON."""

    header: Header
    record: LandedRecord
    value: dict[str, Any]

    @property
    def source(self) -> tuple[str, str, int]:
        """What its ordinals and offsets run in: ``src``, kind and reading."""
        return (self.header.src, self.header.kind, self.header.gen or 0)


@dataclass(frozen=True, slots=True)
class Landed:
    """A storage root."""

    root: Root

    def lines(self) -> Iterator[LandedLine]:
        """Every landed record, by session and sequence."""
        for session in self.root.sessions():
            directory = self.root.session_dir(session)
            for name in landed_names(directory):
                file = read_file(directory / name.path)
                for line, record in zip(file.lines, file.records(), strict=True):
                    yield LandedLine(file.header, record, decode(line))

    def finished_calls(self) -> Iterator[FinishedCall]:
        """Every call whose usage counts, by session."""
        for session in self.root.sessions():
            for call in calls_of(load(self.root.session_dir(session))):
                counted = call.counted()
                if counted is not None:
                    yield counted

    def by_source(self) -> dict[tuple[str, str, int], list[LandedLine]]:
        """Landed records of each source, in landed order."""
        found: dict[tuple[str, str, int], list[LandedLine]] = defaultdict(list)
        for line in self.lines():
            found[line.source].append(line)
        return dict(found)

    def content(self) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
        """What landed of each source, without what depends on when and in which file it did: the
        environment is written where it differs from the record before in the same file."""
        return {
            source: [{k: v for k, v in line.value.items() if k != "env"} for line in lines]
            for source, lines in self.by_source().items()
        }


def collect(adapter: Adapter, root: Path) -> tuple[Landed, Pass]:
    """One pass in this process, until nothing is pending."""
    entries = entries_of([adapter])
    opened = Root.open(root, write=True)
    collector = Collector(opened, entries, lambda: entries, Limits(), ChainKeeper(), workers=1)
    return Landed(opened), collector.run()


def unknown_bytes(value: dict[str, Any]) -> bytes:
    """The source bytes an ``unknown`` part holds."""
    if value.get("encoding") == "base64":
        return base64.b64decode(value["data"])
    return str(value["data"]).encode()
