"""Several processes at one root: collectors, a collector that is stopped, a reader beside a writer."""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..support.pipeline import Pipeline
from .test_kill import SMALL, structure

ASZ = [sys.executable, "-m", "asz"]


def start(pipeline: Pipeline, *args: str) -> "subprocess.Popen[str]":
    where = ["--root", str(pipeline.root), "--config", str(pipeline.config)]
    return subprocess.Popen(
        [*ASZ, *args, *where], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def many(sample: Path, projects: Path, count: int) -> None:
    """The sample's session several times over, each under an id of its own."""
    source = next(path for path in sample.iterdir() if path.is_dir() and list(path.glob("*.jsonl")))
    main = next(source.glob("*.jsonl"))
    for number in range(count):
        session = f"{number:08d}{main.stem[8:]}"
        target = projects / source.name
        target.mkdir(parents=True, exist_ok=True)
        text = main.read_text().replace(main.stem, session)
        (target / f"{session}.jsonl").write_text(text)
        if (source / main.stem).is_dir():
            shutil.copytree(source / main.stem, target / session, dirs_exist_ok=True)


def test_collectors_at_once_land_everything_once(sample: Path, tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    many(sample, projects, 12)
    pipeline = Pipeline(tmp_path / "home", projects, collector=SMALL)
    running = [start(pipeline, "collect", "--once") for _ in range(3)]
    ended = [process.communicate() for process in running]
    landed = sum(int(re.findall(r" records=(\d+)", out)[0]) for out, _err in ended)
    for process, (_out, err) in zip(running, ended, strict=True):
        busy = [line for line in err.splitlines() if "another" in line]
        assert len(busy) == len(err.splitlines()), err
        assert process.returncode == (1 if busy else 0)
    last = pipeline.collect()
    assert last.status == 0, last.err
    landed += last.counts["records"]
    assert len(pipeline.sessions()) == 12
    assert landed == sum(len(f.lines) for s in pipeline.sessions() for f in pipeline.landed(s))
    assert pipeline.asz("verify").status == 0
    assert pipeline.collect().counts["landed"] == 0


def test_an_interrupt_keeps_what_landed(sample: Path, tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    many(sample, projects, 40)
    pipeline = Pipeline(tmp_path / "home", projects, collector=SMALL)
    process = start(pipeline, "collect", "--once")
    deadline = time.monotonic() + 30
    while not list(pipeline.root.glob("*/streams/*/*.sd")) and time.monotonic() < deadline:
        pass
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert pipeline.collect().status == 0
    assert pipeline.asz("verify").status == 0
    assert len(pipeline.sessions()) == 40


def test_a_watching_collector_lands_what_comes_and_ends_on_a_signal(
    sample: Path, tmp_path: Path
) -> None:
    projects = tmp_path / "projects"
    many(sample, projects, 1)
    pipeline = Pipeline(tmp_path / "home", projects, collector="collector: {interval: 1s}\n")
    process = start(pipeline, "collect")
    assert process.stdout is not None
    assert " landed=" in process.stdout.readline()
    many(sample, projects / "more", 1)
    (projects / "more").rename(tmp_path / "aside")
    many(sample, tmp_path / "late", 2)
    for path in (tmp_path / "late").rglob("00000001*"):
        target = projects / path.relative_to(tmp_path / "late")
        path.rename(target)
    while "sessions=2" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _out, err = process.communicate()
    assert process.returncode == 130, err
    assert pipeline.asz("verify").status == 0


def test_a_reader_beside_a_writer_always_sees_a_whole_structure(
    sample: Path, tmp_path: Path
) -> None:
    projects = tmp_path / "projects"
    many(sample, projects, 6)
    pipeline = Pipeline(tmp_path / "home", projects, collector=SMALL)
    assert pipeline.collect().status == 0
    session = pipeline.sessions()[0]
    before = structure(pipeline, session)
    many(sample, projects, 30)
    process = start(pipeline, "collect", "--once")
    reads = 0
    while process.poll() is None or not reads:
        assert structure(pipeline, session) == before
        listed = pipeline.asz("conversations")
        assert listed.status == 0, listed.err
        reads += 1
    process.communicate()
    assert process.returncode == 0
