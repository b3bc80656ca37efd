"""Measures asz beside the floor of the same run, and prints ratios.

    python benchmarks/run.py [--generator DIR] [--scratch DIR] [--bytes N] [--runs N]

``DIR`` holds ``corpusgen.py``. Trees are made below the scratch directory and kept there for the next
run. Every figure is the median of ``--runs`` runs.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LONG_RECORDS = 60_000
LONG_BYTES = 176e6
"""What the generator takes to make a session of about that many records."""


@dataclass
class Bench:
    """Where things are, and how often each is measured."""

    generator: Path
    scratch: Path
    runs: int

    def tree(self, name: str, sessions: int, size: float) -> Path:
        """A generated tree, made once."""
        home = self.scratch / name
        if not (home / "projects").exists():
            shape = ["--seed", "3", "--sessions", str(sessions), "--target-bytes", str(size)]
            subprocess.run(
                [sys.executable, str(self.generator / "corpusgen.py"), str(home), *shape],
                check=True,
            )
        return home / "projects"

    def work(self, *args: str | Path) -> dict[str, Any]:
        """One piece of work in its own process."""
        return run_json(HERE / "work.py", *args)

    def median(self, key: str, measured: list[dict[str, Any]]) -> float:
        """The median of one figure."""
        return statistics.median(one[key] for one in measured)


def run_json(script: Path, *args: str | Path) -> dict[str, Any]:
    """Run a script that prints one JSON object."""
    done = subprocess.run(
        [sys.executable, str(script), *map(str, args)], check=True, stdout=subprocess.PIPE
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def emptied(path: Path) -> Path:
    """A path with nothing there."""
    shutil.rmtree(path, ignore_errors=True)
    return path


def first_collect(bench: Bench, size: float) -> Path:
    """Land and index a whole corpus, beside the floor."""
    projects = bench.tree("corpus", 60, size)
    root = bench.scratch / "root"
    landed, floors = [], []
    for _ in range(bench.runs):
        landed.append(bench.work("land", projects, emptied(root)))
        scratch = emptied(bench.scratch / "floor")
        floors.append(run_json(HERE / "floor.py", projects, root, scratch))
        emptied(scratch)
    cpu, wall = bench.median("cpu", landed), bench.median("wall", landed)
    floor_cpu, floor_wall = bench.median("cpu", floors), bench.median("wall", floors)
    one = floors[0]
    print(f"corpus: {one['bytes'] / 1e6:.0f} MB, {one['lines']} lines, {one['files']} landed files")
    print(
        f"floor, one core:             cpu {floor_cpu:6.2f} s            wall {floor_wall:6.2f} s"
    )
    print(
        f"first collect, land + index: cpu {cpu:6.2f} s = {cpu / floor_cpu:4.2f}x   "
        f"wall {wall:6.2f} s = {wall / floor_wall:4.2f}x   peak {bench.median('peak', landed):.0f} MB"
    )
    assembled = bench.work("collect", projects, root)
    print(
        f"assemble all of it:          cpu {assembled['cpu']:6.2f} s            wall {assembled['wall']:6.2f} s"
    )
    derivation(bench, projects, root, cpu)
    idle = [command("collect", "--once", root=root, projects=projects) for _ in range(bench.runs)]
    print(f"a pass with nothing new:     wall {statistics.median(idle):.2f} s (the whole command)")
    return root


def derivation(bench: Bench, projects: Path, root: Path, collect: float) -> None:
    """Metrics of all of a root, beside the collect of the same corpus; then of nothing new."""
    derived = []
    for _ in range(bench.runs):
        emptied(root / "_metrics")
        derived.append(bench.work("derive", projects, root))
    cpu, wall = bench.median("cpu", derived), bench.median("wall", derived)
    print(
        f"derive metrics of all of it: cpu {cpu:6.2f} s = {cpu / collect:4.2f}x the collect   "
        f"wall {wall:6.2f} s   peak {bench.median('peak', derived):.0f} MB, {derived[0]['count']} calls"
    )
    idle = [bench.work("derive", projects, root) for _ in range(bench.runs)]
    print(f"derive with nothing new:     wall {bench.median('wall', idle):.3f} s")


def command(*args: str, root: Path, projects: Path) -> float:
    """Wall seconds of the real command."""
    config = root.parent / "bench.yaml"
    config.write_text(
        f"adapters: [{{name: claude-code, source_root: {json.dumps(str(projects))}, exclude: []}}, "
        "{name: claude-code-changes, enabled: false}]\n"
    )
    asz = [sys.executable, "-m", "asz", *args]
    if root:
        asz += ["--root", str(root), "--config", str(config)]
    began = time.perf_counter()
    subprocess.run(asz, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def long_session(bench: Bench) -> None:
    """One session of about 60,000 records: growth, assembly, chain, fold."""
    projects = bench.tree("long", 1, LONG_BYTES)
    root = emptied(bench.scratch / "long-root")
    first = bench.work("collect", projects, root)
    session = max(
        (p for p in root.iterdir() if not p.name.startswith("_")), key=lambda p: p.name
    ).name
    print(f"one session of {first['count']} records")
    for name, what in (
        ("assemble", "load and assemble once"),
        ("chain", "chain from nothing"),
        ("fold", "fold"),
    ):
        measured = [bench.work(name, root, session) for _ in range(bench.runs)]
        wall, peak = bench.median("wall", measured), bench.median("peak", measured)
        print(f"{what + ':':28} wall {wall:5.2f} s   peak {peak:.0f} MB")
    growing(bench, projects, root, session)


def growing(bench: Bench, projects: Path, root: Path, session: str) -> None:
    """The main transcript grows by 100 lines of its own."""
    main = next(projects.glob(f"*/{session}.jsonl"))
    tail = main.read_bytes().splitlines(keepends=True)[-100:]
    times: dict[str, list[float]] = {"land": [], "collect": []}
    size = main.stat().st_size
    try:
        for number in range(bench.runs):
            for name, measured in times.items():
                with main.open("ab") as handle:
                    handle.writelines(fresh(line, f"{number}{name[0]}") for line in tail)
                measured.append(bench.work(name, projects, root)["wall"])
    finally:
        with main.open("r+b") as handle:
            handle.truncate(size)
    print(f"100 lines more, land + index: wall {statistics.median(times['land']):.2f} s")
    print(f"100 lines more, whole pass:   wall {statistics.median(times['collect']):.2f} s")


def fresh(line: bytes, mark: str) -> bytes:
    """A line with an id of its own, so that it is no copy."""
    return line.replace(b'"uuid":"', b'"uuid":"' + mark.encode(), 1)


def startup(bench: Bench) -> None:
    """How long a person waits for help."""
    for args in (["--help"], ["version"]):
        times = []
        for _ in range(max(5, bench.runs)):
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "asz", *args], check=True, stdout=subprocess.DEVNULL
            )
            times.append(time.perf_counter() - began)
        print(f"asz {args[0] + ':':24} wall {statistics.median(times):.3f} s")


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--generator", type=Path, default=HERE.parent / "tests" / "truth" / "corpus"
    )
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/asz-bench"))
    parser.add_argument("--bytes", type=float, default=1.1e9)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    args.scratch.mkdir(parents=True, exist_ok=True)
    bench = Bench(args.generator, args.scratch, args.runs)
    first_collect(bench, args.bytes)
    long_session(bench)
    startup(bench)


if __name__ == "__main__":
    main()
