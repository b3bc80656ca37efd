"""How far a pass is, on a terminal; nothing anywhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from asz.collect.passes import Display
    from asz.export.counting import Display as Sent


@contextmanager
def display() -> "Iterator[Display | None]":
    """Something to show a pass on, when standard error is a terminal."""
    with _progress("{task.fields[sessions]} sessions, {task.fields[records]} records") as progress:
        yield None if progress is None else _Bar(progress)


@contextmanager
def sending() -> "Iterator[Sent | None]":
    """The same for a pass that sends."""
    with _progress("{task.fields[files]} files sent") as progress:
        yield None if progress is None else _SentBar(progress)


@contextmanager
def _progress(text: str) -> "Iterator[Progress | None]":
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn(text),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress


class _Bar:
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def start(self, sessions: int, size: int) -> None:
        if sessions:
            self._task = self._progress.add_task("", total=size, sessions=0, records=0)

    def update(self, sessions: int, records: int, size: int) -> None:
        if self._task is not None:
            self._progress.update(self._task, completed=size, sessions=sessions, records=records)


class _SentBar:
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def start(self, files: int, size: int) -> None:
        if files:
            self._task = self._progress.add_task("", total=size, files=0)

    def update(self, files: int, size: int) -> None:
        if self._task is not None:
            self._progress.update(self._task, completed=size, files=files)
