"""The floor a collect is measured against: the work no collector can avoid, on one core.

Read every source line, decode it into a typed struct, digest it; digest, write and fsync as many bytes
as landed, in as many files. Run in a process of its own so that its CPU time is its own.
"""

import argparse
import contextlib
import hashlib
import json
import os
import resource
import time
from pathlib import Path

import msgspec

Raw = msgspec.Raw


class _Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    content: Raw = Raw()


class _Line(msgspec.Struct):
    type: str | None = None
    uuid: str | None = None
    message: _Message | None = None
    toolUseResult: Raw = Raw()  # noqa: N815 - the runtime's name


def read_lines(sources: list[Path]) -> tuple[int, int]:
    """Read, decode and digest every line; how many lines and bytes."""
    decode = msgspec.json.Decoder(_Line).decode
    lines = size = 0
    for path in sources:
        for line in path.read_bytes().split(b"\n"):
            if not line:
                continue
            lines += 1
            size += len(line)
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                decode(line)
            hashlib.sha256(line).hexdigest()
    return lines, size


def write_files(target: Path, sizes: list[int]) -> None:
    """Digest, write and fsync one file for each size."""
    target.mkdir(parents=True)
    block = os.urandom(max(sizes, default=1))
    for number, size in enumerate(sizes):
        data = block[:size]
        hashlib.sha256(data).hexdigest()
        with (target / str(number)).open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())


def main() -> None:
    """Print CPU and wall seconds as one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("projects", type=Path)
    parser.add_argument("landed", type=Path, help="a root collected from the same sources")
    parser.add_argument("scratch", type=Path)
    args = parser.parse_args()
    sources = sorted(args.projects.rglob("*.jsonl"))
    sizes = [path.stat().st_size for path in args.landed.rglob("*.sd")]
    began = time.perf_counter()
    lines, size = read_lines(sources)
    write_files(args.scratch, sizes)
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    print(
        json.dumps({"cpu": cpu, "wall": wall, "lines": lines, "bytes": size, "files": len(sizes)})
    )


if __name__ == "__main__":
    main()
