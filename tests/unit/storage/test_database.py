"""An older database goes on, a newer one is left alone, and only derived data is ever discarded."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from asz import __version__
from asz.errors import NewerError
from asz.storage.database import DamagedError, Schema, open_database, put_aside, read_database

FIRST = Schema("CREATE TABLE t(a);", 1)
THIRD = Schema(
    "CREATE TABLE t(a,b,c);",
    3,
    {
        1: ("ALTER TABLE t ADD COLUMN b", "UPDATE t SET b=a*2"),
        2: ("ALTER TABLE t ADD COLUMN c",),
    },
)
DERIVED = Schema("CREATE TABLE t(z);", 2, derived=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of the first schema with one row."""
    path = tmp_path / "state.db"
    with closing(open_database(path, FIRST)) as connection:
        connection.execute("INSERT INTO t VALUES(21)")
    return path


def rows(path: Path, schema: Schema) -> list[tuple[object, ...]]:
    connection = read_database(path, schema)
    assert connection is not None
    with closing(connection):
        return connection.execute("SELECT * FROM t").fetchall()


def test_an_older_one_is_migrated_through_every_version_after_a_backup(path: Path) -> None:
    with closing(open_database(path, THIRD)) as connection:
        assert connection.execute("SELECT * FROM t").fetchall() == [(21, 42, None)]
    backup = path.with_name("state.db.1")
    assert rows(backup, FIRST) == [(21,)]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(os.listdir(path.parent)) == ["state.db", "state.db.1"]


def test_a_reader_sees_an_older_one_as_it_will_be_and_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    assert rows(path, THIRD) == [(21, 42, None)]
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["state.db"]


def test_a_newer_one_is_refused_with_who_wrote_it_and_stays(path: Path) -> None:
    with closing(open_database(path, THIRD)):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE written SET by='7.2.0'")
        connection.commit()
    before = path.read_bytes()
    for opening in (open_database, read_database):
        with pytest.raises(NewerError, match=r"state\.db: written by asz 7\.2\.0, .*upgrade asz"):
            opening(path, FIRST)
    assert path.read_bytes() == before


def test_a_newer_one_that_does_not_say_who_wrote_it_is_refused_too(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE written")
        connection.execute("PRAGMA user_version=9")
    with pytest.raises(NewerError, match=r"written by a newer asz, .*upgrade asz"):
        open_database(path, FIRST)


def test_what_makes_it_is_noted(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT by FROM written").fetchall() == [(__version__,)]


def test_a_migration_that_fails_leaves_the_older_one(path: Path) -> None:
    broken = Schema(
        "CREATE TABLE t(a,b);", 2, {1: ("DELETE FROM t", "INSERT INTO nowhere VALUES(1)")}
    )
    with pytest.raises(DamagedError):
        open_database(path, broken)
    assert rows(path, FIRST) == [(21,)]


@pytest.mark.parametrize("version", [1, 3])
def test_a_derived_one_of_another_version_may_be_discarded(tmp_path: Path, version: int) -> None:
    path = tmp_path / "index.db"
    open_database(path, Schema("CREATE TABLE t(z);", version, derived=True)).close()
    with pytest.raises(DamagedError) as raised:
        open_database(path, DERIVED)
    assert raised.value.outdated
    assert read_database(path, DERIVED) is None


def test_what_is_damaged_is_put_aside_with_its_journal_gone(path: Path) -> None:
    path.write_bytes(b"not a database, but perhaps somebody can make something of it")
    path.with_name("state.db-journal").write_bytes(b"of the database before")
    with pytest.raises(DamagedError):
        open_database(path, FIRST)
    aside = put_aside(path)
    assert aside.read_bytes().startswith(b"not a database")
    open_database(path, FIRST).close()
    assert rows(path, FIRST) == []
    assert sorted(os.listdir(path.parent)) == ["state.db", "state.db.damaged"]


def test_every_kind_that_is_not_derived_has_its_migrations() -> None:
    from asz.export import state
    from asz.metrics import store
    from asz.storage import cursors

    for module in (state, store, cursors):
        schema = module._SCHEMA
        assert not schema.derived
        assert set(schema.migrations) == set(range(1, schema.version))
