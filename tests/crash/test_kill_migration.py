"""Killed while a database is migrated, it is the older one or the newer one, and nothing between."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from asz.storage.database import Schema, open_database
from asz.storage.steps import Step

STEPS = {Step.DATABASE_BACKUP: [1], Step.DATABASE_MIGRATE: [1]}

FIRST = Schema("CREATE TABLE t(a);", 1)
SECOND = Schema("CREATE TABLE t(a,b);", 2, {1: ("ALTER TABLE t ADD COLUMN b", "UPDATE t SET b=a")})

MIGRATING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from dying import dying
from asz.storage.database import Schema, open_database
dying(sys.argv[1], sys.argv[2], 1)
schema = Schema("CREATE TABLE t(a,b);", 2, {1: ("ALTER TABLE t ADD COLUMN b", "UPDATE t SET b=a")})
open_database(Path(sys.argv[3]), schema)
"""


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_migration_is_made_good(tmp_path: Path, step: Step, moment: str) -> None:
    path = tmp_path / "state.db"
    with closing(open_database(path, FIRST)) as connection:
        connection.executemany("INSERT INTO t VALUES(?)", [(n,) for n in range(1000)])
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", MIGRATING, step, moment, str(path), here]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    assert version == (2 if (step, moment) == (Step.DATABASE_MIGRATE, "after") else 1)
    with closing(open_database(path, SECOND)) as connection:
        assert connection.execute("SELECT count(*),sum(a=b) FROM t").fetchone() == (1000, 1000)
