"""One measured piece of work, run in a process of its own so that its time and memory are its own.

    work.py land PROJECTS ROOT         one pass: land and index, nothing else
    work.py collect PROJECTS ROOT      one whole pass
    work.py assemble ROOT SESSION      load a session's index and assemble it once
    work.py chain ROOT SESSION         its chain from nothing
    work.py fold ROOT SESSION          read and fold its chain
    work.py derive PROJECTS ROOT       the metrics of everything in a root

Prints one JSON object: wall and CPU seconds, the peak memory of the largest process in MB, and a count.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from asz.collect.passes import Collector
from asz.collect.work import Entries, Limits, entries_of
from asz.config.settings import AdapterEntry
from asz.flow.keeping import ChainKeeper
from asz.plugins import Selection, load_adapters
from asz.storage.root import Root


def entry_of(projects: str) -> AdapterEntry:
    """The claude-code adapter's entry for one source root."""
    return AdapterEntry("claude-code", True, options={"source_root": projects, "exclude": []})


def load(projects: str) -> Entries:
    """The claude-code adapter on one source root."""
    selection = Selection((entry_of(projects),), frozenset(("claude-code",)))
    return entries_of(load_adapters(selection).active)


def collect(projects: str, root: str, *, parse: bool) -> int:
    """One pass; how many records landed."""
    collector = Collector(
        Root.open(Path(root), write=True),
        load(projects),
        partial(load, projects),
        Limits(),
        ChainKeeper() if parse else None,
    )
    made = collector.run()
    for problem in made.report.problems:
        print(problem, file=sys.stderr)
    return made.report.counts.records


def assemble(root: str, session: str) -> int:
    """One full assembly; how many records it is of."""
    from asz.assembly.assemble import assemble as assemble_rows
    from asz.assembly.assemble import without_gc
    from asz.storage.index import load as load_rows

    with without_gc():
        rows = load_rows(Path(root) / session)
        assemble_rows(rows)
    return len(rows.records)


def chain(root: str, session: str) -> int:
    """A session's chain from nothing; how many rounds."""
    from asz.flow.parse import parse

    return parse(Root.open(Path(root), write=True), session, rebuild=True).rounds_written


def fold(root: str, session: str) -> int:
    """The fold of a session's chain; how many nodes."""
    from asz.flow.chain import read_chain
    from asz.flow.fold import fold as fold_rounds

    opened = Root.open(Path(root), write=False)
    return len(fold_rounds(read_chain(opened.conversation_dir(session)).rounds).nodes)


def derive(projects: str, root: str) -> int:
    """Derive metrics of everything that landed, or of what is new; how many calls."""
    from asz.metrics.derive import Deriver, Meter

    (adapter,) = load_adapters(Selection((entry_of(projects),), frozenset(("claude-code",)))).active
    meter = Meter(
        adapter.info.runtime,
        adapter.info.service_name,
        10**10,
        partial(adapter.derive_metrics, adapter.options),
    )
    done = Deriver(Root.open(Path(root), write=True), [meter], frozenset).run(whole=True)
    for problem in done.errors:
        print(problem, file=sys.stderr)
    return done.calls


WORK: dict[str, Callable[[str, str], int]] = {
    "land": partial(collect, parse=False),
    "collect": partial(collect, parse=True),
    "assemble": assemble,
    "chain": chain,
    "fold": fold,
    "derive": derive,
}


def main() -> None:
    """Do it, print what it took."""
    began = time.perf_counter()
    count = WORK[sys.argv[1]](sys.argv[2], sys.argv[3])
    wall = time.perf_counter() - began
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    peak = max(own.ru_maxrss, children.ru_maxrss) / 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak, "count": count}))


if __name__ == "__main__":
    main()
