"""Metrics of several collectors at once, and of one that watches."""

import signal
from pathlib import Path

from ..support.pipeline import Pipeline
from ..support.spool import never_overlap, points, sums
from .test_kill_metrics import METERED
from .test_together import many, start


def test_collectors_at_once_count_every_call_once(sample: Path, tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    many(sample, projects, 12)
    alone = Pipeline(tmp_path / "alone", projects, METERED)
    assert alone.collect().status == 0
    together = Pipeline(tmp_path / "together", projects, METERED)
    running = [start(together, "collect", "--once") for _ in range(3)]
    for process in running:
        _out, err = process.communicate()
        assert all("another" in line for line in err.splitlines()), err
    assert together.collect().status == 0
    held, expected = points(together.root), points(alone.root)
    assert sums(held, "type", "query_source") == sums(expected, "type", "query_source")
    assert never_overlap(held)


def test_a_watching_collector_leaves_what_may_go_on_to_a_later_pass(
    sample: Path, tmp_path: Path
) -> None:
    once = Pipeline(tmp_path / "once", sample, METERED)
    assert once.collect().status == 0
    expected = sums(points(once.root), "type")
    watched = Pipeline(tmp_path / "watched", sample, METERED)
    process = start(watched, "collect")
    assert process.stdout is not None
    assert " landed=" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate()
    first = sums(points(watched.root), "type")
    assert first.keys() == expected.keys()
    assert all(0 < first[key] < expected[key] for key in expected)
    assert watched.collect().status == 0
    assert sums(points(watched.root), "type") == expected
    assert never_overlap(points(watched.root))
