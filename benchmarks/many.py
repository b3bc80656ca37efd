"""Measures a pass with nothing new over many sessions, beside the least that any pass has to do.

    python benchmarks/many.py [--sessions N] [--runs N] [--keep DIR]

Makes ``--sessions`` small sessions of two to three sources each and collects them. The floor lists the
same directories and asks for the state of each source once, in a process of its own like the command.
Every figure is the median of ``--runs`` runs, CPU of the whole process.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

FLOOR = """
import os, sys
for folder, _folders, names in os.walk(sys.argv[1]):
    for name in names:
        os.stat(os.path.join(folder, name))
"""


def line(session: str, number: int, **more: object) -> str:
    """One record of a small session."""
    record = {
        "type": "user",
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session}{number}{sorted(more)}")),
        "parentUuid": None,
        "promptId": f"p{number}",
        "origin": {"kind": "human"},
        "sessionId": session,
        "version": "2.1.251",
        "cwd": "/home/dev/src/app",
        "timestamp": f"2026-09-01T10:00:{number:02d}.000Z",
        "message": {"role": "user", "content": f"Prompt {number}"},
        **more,
    }
    return json.dumps(record) + "\n"


def make(projects: Path, sessions: int) -> int:
    """Write the sessions; how many sources there are."""
    sources = 0
    for number in range(sessions):
        session = str(uuid.uuid5(uuid.NAMESPACE_URL, str(number)))
        folder = projects / f"-home-dev-src-app{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        main = [line(session, place) for place in range(4)]
        (folder / f"{session}.jsonl").write_text("".join(main))
        sources += 1
        for child in range(number % 3):
            agents = folder / session / "subagents"
            agents.mkdir(parents=True, exist_ok=True)
            agent = f"a{child:016x}"
            (agents / f"agent-{agent}.jsonl").write_text(line(session, 1, agentId=agent))
            sources += 1
            if child:
                (agents / f"agent-{agent}.meta.json").write_text('{"agentType":"Explore"}')
                sources += 1
    return sources


def run(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """CPU and wall seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = args.keep or Path(temporary)
        projects = home / ".claude" / "projects"
        sources = make(projects, args.sessions)
        env = {**os.environ, "HOME": str(home), "ASZ_ROOT": str(home / "root")}
        env.pop("CLAUDE_CONFIG_DIR", None)
        env.pop("XDG_CONFIG_HOME", None)
        collect = [sys.executable, "-m", "asz", "collect", "--adapter", "claude-code", "--once"]
        first = run(collect, env)
        run(collect, env)
        passes, floors = [], []
        for _ in range(args.runs):
            passes.append(run(collect, env))
            floors.append(run([sys.executable, "-c", FLOOR, str(projects)], env))
    cpu, wall = (statistics.median(each[at] for each in passes) for at in (0, 1))
    floor = statistics.median(each[0] for each in floors)
    print(f"{args.sessions} sessions, {sources} sources; first pass {first[0]:.2f} s CPU")
    print(f"floor:       cpu {floor:5.2f} s")
    print(f"nothing new: cpu {cpu:5.2f} s ({cpu / floor:.1f}x)   wall {wall:5.2f} s")


if __name__ == "__main__":
    main()
