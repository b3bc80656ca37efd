"""Looking through one source root: every file that Claude Code writes for a session, and where."""

import errno
import os
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from asz_claude_code import layout
from asz_claude_code.first_record import session_of
from asz_claude_code.links import EntryKind, follow
from asz_hookspecs import AdapterError, Problem, Source
from asz_hookspecs.source import Shape, SourceKind
from asz_hookspecs.vocabulary import STREAM_MAIN

_GONE = frozenset((errno.ENOENT, errno.ENOTDIR))
"""Errors of a directory that went away during the scan: the files are live."""


class Found(NamedTuple):
    """One source and the project directory it was found in."""

    project: str
    source: Source


@dataclass(slots=True)
class Findings:
    """What the walks over all roots found."""

    sessions: dict[str, list[Found]] = field(default_factory=lambda: defaultdict(list))
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True


class Entry(NamedTuple):
    """A directory entry that is a file or a directory, links followed."""

    name: str
    path: str
    src: str
    kind: EntryKind


class Walk:
    """One source root being looked through. Directories are listed, files are not opened, except a
    child transcript beside the main ones, whose session only its first record tells."""

    def __init__(self, root: str, findings: Findings) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._findings = findings
        self._project = ""

    def run(self, required: bool) -> None:
        """Look through every project directory.

        :param required: whether a person named the root.
        :raises AdapterError: a root that was named cannot be listed.
        """
        try:
            os.scandir(self._root).close()
        except OSError as error:
            if required:
                raise AdapterError(
                    f"source_root: cannot list {self._root}: {error.strerror}; make it readable"
                ) from error
        for entry in self._entries(self._root, "", whole=True):
            if entry.kind == "directory":
                self._project = entry.name
                self._project_directory(entry)

    # ---- the levels of the tree

    def _project_directory(self, project: Entry) -> None:
        for entry in self._entries(project.path, project.src, whole=True):
            name = entry.name
            if entry.kind == "directory":
                if layout.is_session_id(name):
                    self._session_directory(entry)
            elif name.endswith(layout.TRANSCRIPT_SUFFIX) and layout.is_session_id(name[:-6]):
                self._add(name[:-6], entry, "transcript", stream=STREAM_MAIN)
            elif name.startswith(layout.AGENT_PREFIX):
                self._agent_beside(entry)

    def _session_directory(self, directory: Entry) -> None:
        session = directory.name
        for entry in self._entries(directory.path, directory.src):
            if entry.kind == "file":
                self._skip_agent(entry, "not where agents of a session are kept")
            elif entry.name == "subagents":
                self._subagents(session, entry)
            elif entry.name == "workflows":
                self._workflows(session, entry)

    def _subagents(self, session: str, directory: Entry) -> None:
        for entry in self._entries(directory.path, directory.src):
            if entry.kind == "file":
                self._agent(session, entry)
            elif entry.name == "workflows":
                self._runs(session, entry)

    def _runs(self, session: str, directory: Entry) -> None:
        for run_directory in self._entries(directory.path, directory.src):
            if run_directory.kind == "file":
                self._skip_agent(run_directory, "not in the directory of a run")
                continue
            run = layout.run_of_directory(run_directory.name)
            for entry in self._entries(run_directory.path, run_directory.src):
                if entry.kind != "file":
                    continue
                if entry.name != layout.JOURNAL:
                    self._agent(session, entry)
                elif run is None:
                    self._skip(entry, "its directory is not named like a run")
                else:
                    self._add(session, entry, "journal", batch=run)

    def _workflows(self, session: str, directory: Entry) -> None:
        for entry in self._entries(directory.path, directory.src):
            if entry.kind == "file":
                run = layout.run_of_manifest(entry.name)
                if run is not None:
                    self._add(session, entry, "workflow_manifest", "document", batch=run)
            elif entry.name == "scripts":
                self._scripts(session, entry)

    def _scripts(self, session: str, directory: Entry) -> None:
        for entry in self._entries(directory.path, directory.src):
            run = layout.run_of_script(entry.name) if entry.kind == "file" else None
            if run is not None:
                self._add(session, entry, "workflow_script", "document", batch=run)

    # ---- agents

    def _agent(self, session: str, entry: Entry) -> None:
        named = layout.agent_file(entry.name)
        if named is None:
            self._skip_agent(entry, "no agent id in its name")
            return
        agent, suffix = named
        if suffix == layout.TRANSCRIPT_SUFFIX:
            self._add(session, entry, "transcript", stream=agent)
        else:
            self._add(session, entry, "agent_meta", "document", stream=agent)

    def _agent_beside(self, entry: Entry) -> None:
        """An agent's file among the main transcripts, where versions before 2.1.2 kept them."""
        named = layout.agent_file(entry.name)
        if named is None or named[1] != layout.TRANSCRIPT_SUFFIX:
            self._skip(entry, "no transcript of an agent")
            return
        try:
            session = session_of(entry.path)
        except OSError as error:
            if error.errno not in _GONE:
                self._problem(entry.path, entry.src, error.strerror)
            return
        if session is None or not layout.is_session_id(session):
            self._skip(entry, "its first record names no session")
            return
        self._add(session, entry, "transcript", stream=named[0])

    # ---- what is told

    def _add(
        self,
        session: str,
        entry: Entry,
        kind: SourceKind,
        shape: Shape = "lines",
        stream: str | None = None,
        batch: str | None = None,
    ) -> None:
        try:
            entry.src.encode()
        except UnicodeEncodeError:
            self._problem(entry.path, entry.src, "not read: its name is not UTF-8; rename it")
            return
        source = Source(
            src=entry.src,
            kind=kind,
            shape=shape,
            root=self._root,
            stream=stream,
            batch=batch,
            auxiliary=stream is not None and layout.is_auxiliary(stream),
            # One name wherever the session lies: a moved or copied project is read on, not again.
            key="" if kind == "workflow_script" else f"{kind}/{stream or batch}",
        )
        self._findings.sessions[session].append(Found(self._project, source))

    def _skip(self, entry: Entry, why: str) -> None:
        self._findings.skipped.append(f"{entry.path}: not read: {why}")

    def _skip_agent(self, entry: Entry, why: str) -> None:
        if entry.name.startswith(layout.AGENT_PREFIX):
            self._skip(entry, why)

    def _problem(self, path: str, hides: str, why: str | None) -> None:
        self._findings.problems.append(Problem(f"{path}: {why or 'cannot be read'}", hides))

    # ---- the file system

    def _entries(self, path: str, src: str, whole: bool = False) -> list[Entry]:
        """The files and directories in a directory; none when it vanished.

        :param whole: whether sessions that are not seen for an error here must not be judged gone.
        """
        prefix = f"{src}/" if src else ""
        out = []
        try:
            with os.scandir(path) as listing:
                for item in listing:
                    kind = self._kind(item, prefix + item.name)
                    if kind is not None:
                        out.append(Entry(item.name, item.path, prefix + item.name, kind))
        except OSError as error:
            if error.errno not in _GONE:
                self._problem(path, prefix, error.strerror)
                self._findings.complete &= not whole
        return out

    def _kind(self, item: "os.DirEntry[str]", src: str) -> EntryKind | None:
        if item.is_file(follow_symlinks=False):
            return "file"
        if not item.is_symlink() and item.name != src and layout.is_file_name(item.name):
            self._problem(item.path, src, "not read: not a regular file; move it away")
            return None
        if item.is_dir(follow_symlinks=False):
            return "directory"
        if not item.is_symlink() or not (item.name == src or layout.is_known(item.name)):
            return None
        verdict = follow(item.path, self._real_root)
        if verdict.problem is not None:
            self._problem(item.path, src, verdict.problem)
        if verdict.note is not None:
            self._findings.notes.append(f"{item.path}: {verdict.note}")
        return verdict.kind
