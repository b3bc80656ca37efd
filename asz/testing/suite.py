"""The conformance suite. Each test says one promise of an adapter, or of asz about it."""

import hashlib
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from asz.assembly.assemble import assemble
from asz.assembly.model import Entities
from asz.flow.chain import read_chain
from asz.flow.fold import fold
from asz.jsonio import decode
from asz.metrics.windows import cut
from asz.plugins import Adapter
from asz.storage import index
from asz.storage.records import RecordWriter, record_sha
from asz.testing.hostile import HOSTILE, twisted
from asz.testing.landed import Landed, collect, unknown_bytes
from asz.testing.subject import Subject
from asz.verify import verify
from asz_hookspecs import Discovery, Record, Source, specs
from asz_hookspecs.vocabulary import GLOSSARY, PART_KINDS, PART_STATES

_SAMPLED = 40
"""Records of a source that are twisted."""


def _no_window(_series: str) -> int:
    return 0


def _nothing_followed(_session: str) -> frozenset[str]:
    return frozenset()


class Conformance:
    """Made by ``asz.testing.conformance``."""

    subject: ClassVar[Subject]

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        """A copy of the sample."""
        return self.subject.copy_sample(tmp_path)

    @pytest.fixture
    def adapter(self, sample: Path) -> Adapter:
        """The adapter, reading the copy."""
        return self.subject.load(sample)

    @pytest.fixture
    def found(self, adapter: Adapter) -> Discovery:
        """What it discovers."""
        return adapter.discover(adapter.options, _nothing_followed)

    @pytest.fixture
    def collected(self, adapter: Adapter, tmp_path: Path) -> Landed:
        """A root the sample was collected into, without anything left."""
        landed, made = collect(adapter, tmp_path / "root")
        assert made.clean, made.report.problems
        return landed

    # ------------------------------------------------------------ hooks

    def test_hooks_take_what_the_contract_gives(self) -> None:
        """A parameter with a default is never passed, a keyword-only one fails only when called."""
        plugin = self.subject.plugin()
        for name in (name for name in dir(specs) if name.startswith("asz_")):
            hook = getattr(plugin, name, None)
            if hook is None:
                continue
            for parameter in inspect.signature(hook).parameters.values():
                assert parameter.default is parameter.empty, f"{name}: {parameter} has a default"
                assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD, f"{name}: {parameter}"

    def test_the_glossary_is_complete(self, adapter: Adapter) -> None:
        """One entry for each name of the model; no place where there is no word."""
        terms = adapter.glossary()
        assert sorted(term.name for term in terms) == sorted(GLOSSARY)
        assert not [term.name for term in terms if term.where and not term.native]

    # ------------------------------------------------------------ discovery

    def test_discovery_finds_the_sample(self, found: Discovery) -> None:
        """Something is found, and nothing of it is refused."""
        assert found.sessions
        assert not found.problems
        assert found.complete

    def test_discovery_is_repeatable(self, adapter: Adapter, found: Discovery) -> None:
        """Nothing is remembered: the same files give the same discovery."""
        assert adapter.discover(adapter.options, _nothing_followed) == found

    def test_nothing_is_written_where_the_sources_are(
        self, sample: Path, adapter: Adapter, tmp_path: Path
    ) -> None:
        """Collecting reads."""
        before = _snapshot(sample)
        collect(adapter, tmp_path / "root")
        assert _snapshot(sample) == before

    def test_the_process_is_left_as_it_was(self, adapter: Adapter, tmp_path: Path) -> None:
        """No hook changes the environment, the working directory or the import path."""
        before = (dict(os.environ), Path.cwd(), list(sys.path))
        collect(adapter, tmp_path / "root")
        adapter.glossary()
        assert (dict(os.environ), Path.cwd(), list(sys.path)) == before

    # ------------------------------------------------------------ metrics

    def test_metrics_follow_from_the_calls_alone(self, adapter: Adapter, collected: Landed) -> None:
        """Each call adds the same to the same series, whichever calls it is handed over with."""
        if "asz_derive_metrics" not in adapter.hooks:
            return
        calls = list(collected.finished_calls())
        alone = [
            point for call in calls for point in adapter.derive_metrics(adapter.options, [call])
        ]
        together = adapter.derive_metrics(adapter.options, calls)
        assert cut(together, _no_window) == cut(alone, _no_window)
        assert not adapter.derive_metrics(adapter.options, [])

    # ------------------------------------------------------------ landing

    def test_every_line_becomes_a_record(self, found: Discovery, collected: Landed) -> None:
        """As many records as lines, each with the size and the digest of its line."""
        landed = collected.by_source()
        for source in _sources(found, "lines"):
            lines = _lines_of(source)
            records = [line.record for line in landed.get((source.src, source.kind, 0), [])]
            assert [(record.size, record.sha) for record in records] == [
                (len(line), record_sha(line)) for line in lines
            ]

    def test_offsets_and_ordinals_are_contiguous(self, collected: Landed) -> None:
        """A source's records run on without a gap."""
        for source, lines in collected.by_source().items():
            ordinals = [line.record.ord for line in lines]
            assert ordinals == list(range(1, len(lines) + 1)), source
            offset = 0
            for line in lines:
                if line.record.off:
                    assert line.record.off == offset, source
                offset += line.record.size + 1

    def test_source_bytes_are_kept(self, found: Discovery, collected: Landed) -> None:
        """What a part holds of the source's JSON stands in the source exactly so. One piece may
        be made rather than copied: the ``changes/1`` record of what a result changed."""
        landed = collected.by_source()
        for source in _sources(found, "lines"):
            lines = _lines_of(source)
            for raw, line in zip(lines, landed.get((source.src, source.kind, 0), []), strict=False):
                parts = [part for part in line.record.parts if part.k != "unknown"]
                kept = [data for part in parts if not _tells_changes(data := bytes(part.data))]
                whole = any(part.k == "unknown" for part in line.record.parts)
                assert whole or all(data in raw for data in kept), (source.src, line.record.ord)

    def test_a_second_pass_lands_nothing(self, adapter: Adapter, collected: Landed) -> None:
        """Nothing new is nothing landed."""
        before = _snapshot(collected.root.path)
        _, made = collect(adapter, collected.root.path)
        assert (made.report.counts.landed, made.report.counts.records) == (0, 0)
        assert {path for path in _snapshot(collected.root.path) if path.endswith(".sd")} == {
            path for path in before if path.endswith(".sd")
        }

    def test_what_grew_lands_like_what_was_there_at_once(
        self, adapter: Adapter, found: Discovery, tmp_path: Path
    ) -> None:
        """Files that were cut in the middle of a line, and then completed, give the same records."""
        whole, _ = collect(adapter, tmp_path / "whole")
        kept = {
            path: path.read_bytes()
            for path in (Path(source.root) / source.src for source in _sources(found, "lines"))
        }
        for path, data in kept.items():
            path.write_bytes(data[: len(data) * 2 // 3])
        collect(adapter, tmp_path / "grown")
        for path, data in kept.items():
            with path.open("ab") as handle:
                handle.write(data[len(data) * 2 // 3 :])
        grown, _ = collect(adapter, tmp_path / "grown")
        assert grown.content() == whole.content()

    # ------------------------------------------------------------ conversion

    def test_conversion_does_not_depend_on_how_windows_are_cut(
        self, adapter: Adapter, found: Discovery
    ) -> None:
        """One window, windows of one record, and windows of uneven sizes give the same records."""
        for source in _sources(found, "lines"):
            lines = _lines_of(source)
            whole = _converted(adapter, source, [lines])
            assert _converted(adapter, source, [[line] for line in lines]) == whole
            assert _converted(adapter, source, list(_uneven(lines))) == whole

    def test_conversion_is_repeatable(self, adapter: Adapter, found: Discovery) -> None:
        """The same arguments give the same result, and are left as they were."""
        for source in _sources(found, "lines"):
            lines = _lines_of(source)
            given = list(lines)
            first = adapter.convert(source, given, b"")
            assert given == lines
            assert adapter.convert(source, given, b"") == first

    def test_hostile_input_becomes_records(self, adapter: Adapter, found: Discovery) -> None:
        """Whatever is in a record, it becomes one record of strict JSON with known kinds and states."""
        kinds = {source.kind: source for source in _sources(found, "lines", "document", "custom")}
        for source in kinds.values():
            for raw in HOSTILE:
                _check_record(adapter, source, raw)

    def test_twisted_records_become_records(self, adapter: Adapter, found: Discovery) -> None:
        """The same for real records that were cut, doubled, broken, or hold wrong types."""
        kinds = {source.kind: source for source in _sources(found, "lines")}
        for source in kinds.values():
            for raw in twisted(_lines_of(source)[:_SAMPLED]):
                _check_record(adapter, source, raw)

    # ------------------------------------------------------------ what becomes of it

    def test_the_fold_equals_one_full_assembly(self, collected: Landed) -> None:
        """The chain of every session says what assembling its landed files at once says."""
        for session in collected.root.sessions():
            rows = index.load(collected.root.session_dir(session))
            chain = read_chain(collected.root.conversation_dir(session))
            assert chain.problem is None
            folded, whole = fold(chain.rounds), assemble(rows)
            assert _without_revisions(folded.nodes) == _without_revisions(whole.nodes)
            assert _without_revisions(folded.relations) == _without_revisions(whole.relations)
            assert _open(folded) == _open(whole)

    def test_verification_finds_nothing(self, collected: Landed) -> None:
        """Every digest and every chain holds."""
        assert not [str(problem) for problem in verify(collected.root, None)]


def _sources(found: Discovery, *shapes: str) -> Iterator[Source]:
    """The sources of some shapes; of two for one place the first, as asz reads them."""
    for session in found.sessions:
        seen = set()
        for source in session.sources:
            place = (source.kind, source.stream, source.batch, source.src if source.batch else "")
            if source.shape in shapes and source.compression == "none" and place not in seen:
                seen.add(place)
                yield source


def _tells_changes(data: bytes) -> bool:
    return data.startswith(b'{"schema":"changes/1",')


def _lines_of(source: Source) -> list[bytes]:
    """The complete lines of a source."""
    if source.shape != "lines":
        return []
    return (Path(source.root) / source.src).read_bytes().split(b"\n")[:-1]


def _uneven(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Windows of 1, 2, 3, 5, 8 … records, then over again."""
    at, size, after = 0, 1, 2
    while at < len(lines):
        yield lines[at : at + size]
        at += size
        size, after = (after, size + after) if size < 100 else (1, 2)


def _converted(
    adapter: Adapter, source: Source, windows: Sequence[Sequence[bytes]]
) -> list[Record]:
    """Every record of a source that is converted in the windows given."""
    records: list[Record] = []
    carry = b""
    for window in windows:
        converted = adapter.convert(source, window, carry)
        records += converted.records
        carry = converted.carry
    return records


def _check_record(adapter: Adapter, source: Source, raw: bytes) -> None:
    (record,) = adapter.convert(source, [raw], b"").records
    value = decode(RecordWriter().encode(record, 1, 0, raw, record_sha(raw)))
    parts = value.get("parts", [])
    assert {part["k"] for part in parts} <= set(PART_KINDS)
    assert {part["state"] for part in parts} <= set(PART_STATES)
    if record.damaged is not None:
        assert [part["k"] for part in parts] == ["unknown"], raw[:80]
        assert unknown_bytes(parts[0]) == raw, raw[:80]


def _snapshot(place: Path) -> dict[str, tuple[int, int, str]]:
    """Mode, time of change and digest of everything below a directory."""
    found = {}
    for path in sorted(place.rglob("*")):
        stat = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(place))] = (stat.st_mode, stat.st_mtime_ns, digest)
    return found


def _open(entities: Entities) -> set[tuple[str, str]]:
    return {(one.kind, one.ref) for one in entities.unresolved.values() if one.state == "open"}


def _without_revisions(entities: dict[str, Any]) -> dict[str, Any]:
    return {name: msgspec.structs.replace(item, revision=0) for name, item in entities.items()}
