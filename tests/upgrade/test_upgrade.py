"""A root that an earlier asz wrote opens, is migrated, goes on, and loses nothing."""

import fcntl
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from asz.assembly.model import PARSER, POLICY
from asz.cli import main
from asz.export import state as sent
from asz.flow.chain import read_chain
from asz.flow.fold import fold
from asz.metrics import store
from asz.storage import cursors, index
from asz.storage.database import Schema
from asz.storage.root import Root

from ..support.pipeline import Outcome, Pipeline, plain
from ..support.spool import points
from . import making

ROOTS = sorted(
    making.ROOTS.glob("*.tar.gz"), key=lambda path: [*map(int, path.name.split(".")[:3])]
)

SCHEMAS: dict[str, Schema] = {
    f"{making.REFUSED}/state.db": cursors._SCHEMA,
    f"{making.REFUSED}/index/index.db": index._SCHEMA,
    "_metrics/derived.db": store._SCHEMA,
    "_export/state.db": sent._SCHEMA,
}
"""One database of each kind, and what it should hold today."""


@pytest.fixture(autouse=True)
def one_at_a_time(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The ports stand in what the roots remember, and workers run side by side."""
    with (tmp_path_factory.getbasetemp().parent / "ports.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Old:
    """An unpacked root beside its sources."""

    def __init__(self, home: Path, packed: Path) -> None:
        with tarfile.open(packed) as archive:
            archive.extractall(home, filter="data")
        making.configure(home)
        self.home, self.root = home, home / "root"
        self.opened = Root(self.root)

    def asz(self, *args: str, capfd: pytest.CaptureFixture[str]) -> Outcome:
        status = main([*args, "--root", str(self.root), "--config", str(self.home / "asz.yaml")])
        out, err = capfd.readouterr()
        return Outcome(status, out, err)

    def grow(self) -> None:
        """One more prompt in a session the root holds."""
        path = self.home / "projects" / making.DIRECTORY / f"{making.REFUSED}.jsonl"
        with path.open("a") as handle:
            handle.write(making.prompt(making.REFUSED, 2, "One more") + "\n")


@pytest.fixture(params=ROOTS, ids=lambda path: path.name)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Old:
    return Old(tmp_path, request.param)


def landed(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.glob("*/*/*/*.sd")}


def test_it_reads_before_anything_is_written(old: Old, capfd: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in old.root.rglob("*") if path.is_file()}
    for command in (
        ["conversations"],
        ["verify"],
        ["metrics"],
        ["index"],
        ["sources", "--cursors"],
    ):
        outcome = old.asz(*command, capfd=capfd)
        assert (outcome.status, outcome.err) == (0, ""), command
    shown = old.asz("sources", "--cursors", capfd=capfd).out
    assert "source_gone" in shown
    assert {path: path.read_bytes() for path in old.root.rglob("*") if path.is_file()} == before


def test_it_goes_on_and_lands_only_what_grew(old: Old, capfd: pytest.CaptureFixture[str]) -> None:
    before, counted = landed(old.root), len(points(old.root))
    old.asz("collect", "--once", "--adapter", "claude-code", capfd=capfd)
    old.grow()
    outcome = old.asz("collect", "--once", "--adapter", "claude-code", capfd=capfd)
    assert outcome.counts["records"] == 1
    after = landed(old.root)
    assert before.items() <= after.items()
    assert old.asz("verify", capfd=capfd).status == 0
    for session in (making.REFUSED, "4be1a7c2-9d3f-4e58-8a06-1f5c7d2e9b34"):
        chain = read_chain(old.opened.conversation_dir(session))
        assert chain.problem is None
        assert {(r.header.parser, r.header.policy) for r in chain.rounds} == {(PARSER, POLICY)}
        pipeline = Pipeline(old.home / "again", old.home / "projects")
        pipeline.root = old.root
        assert plain(fold(chain.rounds)) == plain(pipeline.assembled(session))
    assert len(points(old.root)) == counted  # the new prompt has no usage


def test_its_databases_are_migrated_and_kept(old: Old, capfd: pytest.CaptureFixture[str]) -> None:
    versions = {name: version_of(old.root / name) for name in SCHEMAS}
    old.grow()
    old.asz("collect", "--once", "--adapter", "claude-code", capfd=capfd)
    with making.Endpoint():
        old.asz("push", "--once", capfd=capfd)
    for name, schema in SCHEMAS.items():
        path = old.root / name
        assert version_of(path) == schema.version, name
        if versions[name] != schema.version and not schema.derived:
            assert version_of(path.with_name(f"{path.name}.{versions[name]}")) == versions[name]


def test_nothing_is_sent_twice(old: Old, capfd: pytest.CaptureFixture[str]) -> None:
    with making.Endpoint() as endpoint:
        outcome = old.asz("push", "--once", capfd=capfd)
        assert endpoint.requests == 0
        assert (outcome.status, outcome.counts["refused"]) == (1, 1)
        old.asz("push", "--once", "--retry-refused", capfd=capfd)
        assert endpoint.requests == 1


def test_a_rule_that_changed_has_a_number_that_changed(old: Old) -> None:
    """Chains of older rules are begun again, which only works when new rules have a new number."""
    for session in old.opened.sessions():
        chain = read_chain(old.opened.conversation_dir(session))
        pipeline = Pipeline(old.home / "again", old.home / "projects")
        pipeline.root = old.root
        if {(r.header.parser, r.header.policy) for r in chain.rounds} == {(PARSER, POLICY)}:
            assembled = pipeline.assembled(session, chain.rounds[-1].header.through_seq)
            assert plain(fold(chain.rounds)) == plain(assembled)


def test_the_newest_root_is_of_todays_schemas_and_rules(tmp_path: Path) -> None:
    """Who changes one makes a root with it, tests/upgrade/making.py, and keeps the roots before it."""
    newest = Old(tmp_path, ROOTS[-1])
    for name, schema in SCHEMAS.items():
        path = newest.root / name
        assert version_of(path) == schema.version, name
        assert tables(path) >= tables_of(schema), f"{name}: another schema has the same version"
    for session in newest.opened.sessions():
        for round_ in read_chain(newest.opened.conversation_dir(session)).rounds:
            assert (round_.header.parser, round_.header.policy) == (PARSER, POLICY)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return set(_tables(connection))


def tables_of(schema: Schema) -> set[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.statements)
        return set(_tables(connection))


def _tables(connection: sqlite3.Connection) -> Iterator[str]:
    for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
        yield sql
