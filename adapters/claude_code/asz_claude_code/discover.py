"""Finding sessions: by id across all project directories, never one directory at a time.

A session's files are not confined to one project directory: Claude Code files a workflow's script
under the directory its agent worked in. Grouping by directory would attribute it to nothing.
"""

import os
from collections import Counter
from typing import TYPE_CHECKING

from asz_claude_code.filters import session_filter
from asz_claude_code.roots import find_roots
from asz_claude_code.walk import Findings, Found, Walk
from asz_hookspecs import Discovery, Followed, Session, Source
from asz_hookspecs.vocabulary import STREAM_MAIN

if TYPE_CHECKING:
    from asz_claude_code.options import Options


def discover(options: "Options", followed: Followed) -> Discovery:
    """Every session below the source roots that the filters admit.

    :raises AdapterError: a root that was named cannot be read.
    """
    roots = find_roots(options.source_roots)
    findings = Findings()
    for root in roots.existing:
        Walk(root, findings).run(roots.required)
    if not roots.existing:
        findings.notes.append(f"no sessions: looked for {' and '.join(roots.looked)}")
    admits = session_filter(options.include, options.exclude)
    sessions = []
    for session, found in findings.sessions.items():
        primary = primary_directory(found, followed, session)
        if admits(primary[1]):
            sessions.append(Session(session, _in_order(found, primary, findings)))
    return Discovery(
        tuple(sessions),
        roots=tuple(roots.looked),
        problems=tuple(sorted(findings.problems, key=lambda problem: problem.message)),
        skipped=tuple(sorted(findings.skipped)),
        notes=tuple(sorted(findings.notes)),
        complete=findings.complete,
    )


Place = tuple[str, str]
"""A source root and the name of a project directory in it."""


def primary_directory(found: list[Found], followed: Followed, session: str) -> Place:
    """The directory a session is at home in: its main transcript's, of several the one a cursor
    follows, else the largest; without a main transcript the one with most sources. Ties by name, then by the
    order of the roots."""
    mains = [one for one in found if one.source.stream == STREAM_MAIN]
    if len(mains) == 1:
        return _place(mains[0])
    if mains:
        known = followed(session)
        mains.sort(
            key=lambda one: (one.source.src not in known, -_size(one), os.fsencode(one.source.src))
        )
        return _place(mains[0])
    counts = Counter(map(_place, found))
    return min(counts, key=lambda place: (-counts[place], os.fsencode(place[1])))


def _in_order(found: list[Found], primary: Place, findings: Findings) -> tuple[Source, ...]:
    """The sources of a session, those of its primary directory first.

    Of two scripts with one ``src``, from two roots, the first is taken: nothing compares scripts, and
    both would share a cursor.
    """
    found.sort(key=lambda one: (_place(one) != primary, os.fsencode(one.source.src)))
    scripts: set[str] = set()
    sources = []
    for _, source in found:
        if source.kind == "workflow_script":
            if source.src in scripts:
                findings.skipped.append(f"{source.root}/{source.src}: not read: found in two roots")
                continue
            scripts.add(source.src)
        sources.append(source)
    return tuple(sources)


def _place(one: Found) -> Place:
    return one.source.root, one.project


def _size(one: Found) -> int:
    try:
        return os.stat(f"{one.source.root}/{one.source.src}").st_size
    except OSError:
        return -1
