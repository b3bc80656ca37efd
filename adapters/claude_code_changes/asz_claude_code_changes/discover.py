"""Finding the files of changes, by session."""

import errno
import os
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from asz_claude_code_changes import layout
from asz_claude_code_changes.filters import Matcher, workspace_filter
from asz_claude_code_changes.roots import find_roots
from asz_claude_code_changes.workspace import workspace_of
from asz_hookspecs import AdapterError, Discovery, Followed, Problem, Session, Source

if TYPE_CHECKING:
    from asz_claude_code_changes.options import Options

_GONE: Final = frozenset((errno.ENOENT, errno.ENOTDIR))
"""Errors of what went away while it was looked at: the plugin removes files it no longer needs."""


@dataclass(slots=True)
class Findings:
    """What the walks over all roots found."""

    sessions: dict[str, list[Source]] = field(default_factory=lambda: defaultdict(list))
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    complete: bool = True


def discover(options: "Options", followed: Followed) -> Discovery:
    """Every file of changes below the source roots that the filters admit.

    :raises AdapterError: a root that was named cannot be read.
    """
    roots = find_roots(options.source_roots)
    admits = workspace_filter(options.include, options.exclude)
    findings = Findings()
    for root in roots.existing:
        Walk(root, findings, admits, followed).run(roots.required)
    sessions = (
        Session(session, tuple(sorted(sources, key=lambda source: source.src)))
        for session, sources in findings.sessions.items()
    )
    return Discovery(
        tuple(sessions),
        roots=tuple(roots.looked),
        problems=tuple(sorted(findings.problems, key=lambda problem: problem.message)),
        skipped=tuple(sorted(findings.skipped)),
        complete=findings.complete,
    )


class Walk:
    """One source root being looked through.

    It may be the directory of all plugins' data, that of one plugin, its output, or a copy of any of them:
    what lies in it tells. Every plugin's output is looked at, since the name of a plugin's directory depends
    on where it was installed from, and each file is a source of its own: two installations that saw
    one session are both read.
    """

    def __init__(self, root: str, findings: Findings, admits: Matcher, followed: Followed) -> None:
        self._root = root
        self._findings = findings
        self._admits = admits
        self._followed = followed

    def run(self, required: bool) -> None:
        """Look through the root.

        :param required: whether a person named it.
        :raises AdapterError: a root that was named cannot be listed.
        """
        try:
            os.scandir(self._root).close()
        except OSError as error:
            if required:
                raise AdapterError(
                    f"source_root: cannot list {self._root}: {error.strerror}; make it readable"
                ) from error
        for name in self._directories(""):
            if layout.is_session_id(name):
                self._session(name, name)
            elif name == layout.OUTPUT:
                self._output(name)
            else:
                self._output(f"{name}/{layout.OUTPUT}")

    def _output(self, src: str) -> None:
        for name in self._directories(src):
            if layout.is_session_id(name):
                self._session(name, f"{src}/{name}")

    def _session(self, session: str, src: str) -> None:
        for entry in self._listed(src):
            name, at = entry.name, f"{src}/{entry.name}"
            if not layout.is_stream_file(name):
                continue
            stream = layout.stream_of(name)
            if stream is None:
                self._findings.skipped.append(f"{entry.path}: not read: its name is no stream's")
            elif not entry.is_file():
                self._problem(at, "not read: not a regular file; move it away")
            elif self._wanted(session, at):
                source = Source(
                    src=at, root=self._root, kind="changes", shape="lines", stream=stream
                )
                self._findings.sessions[session].append(source)

    def _wanted(self, session: str, src: str) -> bool:
        """Whether the filters admit the workspace of a file. One that names none yet waits until it does,
        unless it is being read."""
        try:
            src.encode()
            workspace = workspace_of(f"{self._root}/{src}")
        except UnicodeEncodeError:
            self._problem(src, "not read: its name is not UTF-8; rename it")
            return False
        except OSError as error:
            if error.errno not in _GONE:
                self._problem(src, error.strerror)
            return False
        if workspace is None:
            return src in self._followed(session)
        return self._admits(workspace)

    # ---- the file system

    def _directories(self, src: str) -> list[str]:
        return [entry.name for entry in self._listed(src) if entry.is_dir()]

    def _listed(self, src: str) -> "list[os.DirEntry[str]]":
        """What lies in a directory below the root; nothing when it is not there."""
        try:
            with os.scandir(f"{self._root}/{src}" if src else self._root) as listing:
                return list(listing)
        except OSError as error:
            if error.errno not in _GONE:
                self._problem(f"{src}/" if src else "", error.strerror)
                self._findings.complete &= bool(src)
            return []

    def _problem(self, hides: str, why: str | None) -> None:
        path = f"{self._root}/{hides}".rstrip("/")
        self._findings.problems.append(Problem(f"{path}: {why or 'cannot be read'}", hides))
