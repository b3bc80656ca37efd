"""The life of receivers beside a command: one that fails costs itself only, none outlives it."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from asz.collect.work import Limits
from asz.errors import AszError
from asz.metrics.spool import Spool
from asz.receiving import receivers as life
from asz.receiving import receiving
from asz.storage.landed import landed_names
from asz.storage.root import Root
from asz_hookspecs import Sink

from ...support.plain import Plain

Serve = Callable[[Sink], Awaitable[None]]


class Pushed(Plain):
    """An adapter that is pushed to; what its receiver does is the test's."""

    metrics = True

    def __init__(
        self, home: Path, name: str, enter: Serve | None = None, leave: Any = None
    ) -> None:
        super().__init__(home / "source", name)
        self.title = name
        self.receives = enter is not None
        self._enter, self._leave = enter, leave
        self.threads: list[str] = []

    @asynccontextmanager
    async def _served(self, sink: Sink) -> AsyncIterator[None]:
        assert self._enter is not None
        self.threads.append(threading.current_thread().name)
        await self._enter(sink)
        yield
        if self._leave is not None:
            await self._leave()

    def receive(self, _options: Any, sink: Sink) -> AbstractAsyncContextManager[None]:
        return self._served(sink)


class Heard:
    """What a person would read."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.notes: list[str] = []

    def error(self, error: AszError | str) -> None:
        self.errors.append(str(error))

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root.open(tmp_path / "root", write=True)


async def nothing(_sink: Sink) -> None:
    pass


def kept(root: Root) -> list[bytes]:
    spool = Spool(root)
    return [spool.read(entry) for entry in spool.entries()]


def test_it_serves_while_the_block_runs(root: Root, tmp_path: Path) -> None:
    async def keep(sink: Sink) -> None:
        await sink.metrics(b"first")
        await sink.records("s", "main", "transcript", "pushed", [b"one"])

    adapter, heard = Pushed(tmp_path, "good", keep), Heard()
    with receiving(root, [adapter], Limits(), heard):
        assert kept(root) == [b"first"]
        assert root.sessions() == ["s"]
        assert adapter.threads == ["asz-receivers"]
        assert heard.notes == ["good: receiving"]
    assert heard.errors == []
    assert "asz-receivers" not in {thread.name for thread in threading.enumerate()}


def test_without_receivers_there_is_no_thread(root: Root, tmp_path: Path) -> None:
    with receiving(root, [Pushed(tmp_path, "pulled")], Limits(), Heard()):
        assert "asz-receivers" not in {thread.name for thread in threading.enumerate()}


def test_one_that_cannot_start_costs_itself_only(root: Root, tmp_path: Path) -> None:
    async def taken(_sink: Sink) -> None:
        raise AszError("the port is taken")

    async def keep(sink: Sink) -> None:
        await sink.metrics(b"kept")

    heard = Heard()
    adapters = [Pushed(tmp_path, "bad", taken), Pushed(tmp_path, "good", keep)]
    with receiving(root, adapters, Limits(), heard):
        assert heard.errors == ["the port is taken"]
        assert kept(root) == [b"kept"]
        assert sorted(heard.notes) == ["bad: not receiving", "good: receiving"]


def test_metrics_that_are_off_are_dropped(root: Root, tmp_path: Path) -> None:
    async def keep(sink: Sink) -> None:
        await sink.metrics(b"dropped")

    adapter = Pushed(tmp_path, "off", keep)
    adapter.metrics = False
    with receiving(root, [adapter], Limits(), Heard()):
        assert kept(root) == []


def test_receivers_of_one_root_share_its_spool(root: Root, tmp_path: Path) -> None:
    async def keep(sink: Sink) -> None:
        await asyncio.gather(*(sink.metrics(b"x") for _ in range(10)))

    heard = Heard()
    with receiving(root, [Pushed(tmp_path, name, keep) for name in "ab"], Limits(), heard):
        pass
    assert heard.errors == []
    assert len(kept(root)) == 20
    assert len({entry.seq for entry in Spool(root).entries()}) == 20


def test_streams_of_one_session_wait_for_each_other(root: Root, tmp_path: Path) -> None:
    async def keep(sink: Sink) -> None:
        pushes = [
            sink.records("s", f"stream{number}", "transcript", f"live/{number}", [b"one", b"two"])
            for number in range(8)
        ]
        await asyncio.gather(*pushes)

    heard = Heard()
    with receiving(root, [Pushed(tmp_path, name, keep) for name in "a"], Limits(), heard):
        pass
    assert heard.errors == []
    assert len(landed_names(root.path / "s")) == 8


def test_one_that_does_not_end_is_ended(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life, "STOP_SECONDS", 0.1)
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    began = time.monotonic()
    with receiving(root, [Pushed(tmp_path, "slow", nothing, forever)], Limits(), Heard()):
        pass
    assert ended == ["cancelled"]
    assert time.monotonic() - began < 5


def test_one_that_does_not_begin_keeps_nobody_waiting(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life, "START_SECONDS", 0.1)
    monkeypatch.setattr(life, "STOP_SECONDS", 0.1)

    async def forever(_sink: Sink) -> None:
        await asyncio.Event().wait()

    with receiving(root, [Pushed(tmp_path, "slow", forever)], Limits(), Heard()):
        pass


def test_an_interrupt_ends_it(root: Root, tmp_path: Path) -> None:
    def interrupted() -> None:
        with receiving(root, [Pushed(tmp_path, "good", nothing)], Limits(), Heard()):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "asz-receivers" not in {thread.name for thread in threading.enumerate()}


def test_what_went_wrong_in_landing_is_told(root: Root, tmp_path: Path) -> None:
    def convert(*_args: object) -> None:
        raise AszError("no idea")

    async def keep(sink: Sink) -> None:
        await sink.records("s", "main", "transcript", "pushed", [b"one"])

    adapter, heard = Pushed(tmp_path, "good", keep), Heard()
    adapter.convert = convert  # type: ignore[method-assign, assignment]
    with receiving(root, [adapter], Limits(), heard):
        pass
    assert heard.errors == ["no idea"]
