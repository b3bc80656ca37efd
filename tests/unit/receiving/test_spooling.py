"""Received metrics in the spool: durable when answered, in one process at a time, nothing half there."""

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from asz.metrics.spool import Spool, new_entries
from asz.receiving.spooling import LOCK, SpoolWriter
from asz.storage import steps
from asz.storage.locks import hold
from asz.storage.root import Root
from asz_hookspecs import Busy, StorageFull


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root.open(tmp_path / "root", write=True)


@pytest.fixture
def failing() -> Iterator[list[tuple[steps.Step, int]]]:
    """Steps that fail with ENOSPC, each with how often it still succeeds before."""
    left: list[tuple[steps.Step, int]] = []

    def observe(step: steps.Step, moment: steps.Moment) -> None:
        for place, (name, after) in enumerate(left):
            if step is name and moment == "before":
                left[place] = (name, after - 1)
                if after == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    steps.observer = observe
    yield left
    steps.observer = lambda _step, _moment: None


def kept(root: Root) -> list[bytes]:
    spool = Spool(root)
    return [spool.read(entry) for entry in spool.entries()]


def add(root: Root, *bodies: bytes) -> list[BaseException | None]:
    """Add requests at once, with a writer of their own."""

    async def run() -> list[BaseException | None]:
        writer = SpoolWriter(root)
        try:
            return await asyncio.gather(*map(writer.add, bodies), return_exceptions=True)
        finally:
            writer.close()

    return asyncio.run(run())


def test_what_was_added_is_there_byte_for_byte_and_in_order(root: Root) -> None:
    bodies = [b"\x00\xff request %d" % number for number in range(100)]
    assert add(root, *bodies) == [None] * 100
    assert kept(root) == bodies
    entries = Spool(root).entries()
    assert [entry.seq for entry in entries] == list(range(1, 101))
    assert {entry.origin for entry in entries} == {"otlp"}
    assert {path.stat().st_mode & 0o777 for path in Spool(root).directory.glob("*.pb")} == {0o400}


def test_numbers_go_on_after_the_highest_of_either_origin(root: Root) -> None:
    root.make()
    Spool(root).put(new_entries(7, 1, "derived")[0], b"derived")
    add(root, b"received")
    add(root, b"received later")
    assert [entry.seq for entry in Spool(root).entries()] == [7, 8, 9]


def test_requests_that_arrive_together_share_the_syncs(root: Root) -> None:
    seen: list[steps.Step] = []
    steps.observer = lambda step, moment: seen.append(step) if moment == "before" else None
    try:
        add(root, *(b"%d" % number for number in range(50)))
    finally:
        steps.observer = lambda _step, _moment: None
    assert seen.count(steps.Step.SPOOL_INSTALL) == 50
    assert seen.count(steps.Step.DIRECTORY_SYNC) <= 4


def test_only_one_process_receives_for_a_root(root: Root) -> None:
    root.make()
    Spool(root).make()
    with hold(Spool(root).directory / LOCK):
        (error,) = add(root, b"refused")
    assert isinstance(error, Busy)
    assert LOCK in str(error)
    assert kept(root) == []
    assert add(root, b"taken") == [None]


def test_derivation_at_work_keeps_nobody_waiting(root: Root) -> None:
    root.make()
    Spool(root).make()
    with hold(Spool(root).directory / ".lock"):
        assert add(root, b"taken") == [None]


@pytest.mark.parametrize(
    ("step", "after"),
    [
        (steps.Step.SPOOL_WRITE, 0),
        (steps.Step.SPOOL_WRITE, 2),
        (steps.Step.FILE_SYNC, 1),
        (steps.Step.SPOOL_INSTALL, 0),
        (steps.Step.SPOOL_INSTALL, 2),
        (steps.Step.DIRECTORY_SYNC, 1),
    ],
)
def test_a_disk_that_is_full_leaves_nothing_of_what_was_refused(
    root: Root, failing: list[tuple[steps.Step, int]], step: steps.Step, after: int
) -> None:
    async def run() -> None:
        writer = SpoolWriter(root)
        await writer.add(b"before")
        failing.append((step, after if step.value.startswith("spool") else 0))
        outcomes = await asyncio.gather(
            *(writer.add(b"refused %d" % number) for number in range(5)), return_exceptions=True
        )
        refused = [type(one) for one in outcomes if one is not None]
        assert refused
        assert set(refused) == {StorageFull}
        failing.clear()
        assert len(kept(root)) == 1 + outcomes.count(None)
        await writer.add(b"after")
        writer.close()

    asyncio.run(run())
    assert kept(root)[0] == b"before"
    assert kept(root)[-1] == b"after"
    assert not list(Spool(root).directory.glob(".tmp-*"))


def test_a_root_that_cannot_be_written_is_named(root: Root) -> None:
    root.make()
    (root.path / "_metrics").write_bytes(b"in the way")
    (error,) = add(root, b"refused")
    assert isinstance(error, StorageFull)
    assert str(root.path / "_metrics") in str(error)


def test_what_an_interrupted_receiver_left_is_removed(root: Root) -> None:
    root.make()
    spool = Spool(root)
    spool.make()
    stamp = "20260901T091204.481523000Z"
    mine = spool.directory / f".tmp-metrics-{stamp}-000001-otlp.pb"
    others = spool.directory / f".tmp-metrics-{stamp}-000001-derived.pb"
    mine.write_bytes(b"half")
    others.write_bytes(b"half")
    add(root, b"whole")
    assert not mine.exists()
    assert others.exists()


def test_a_peer_that_gave_up_holds_up_nobody(root: Root) -> None:
    async def run() -> None:
        writer = SpoolWriter(root)
        waiting = [asyncio.create_task(writer.add(b"%d" % number)) for number in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.gather(waiting[0], waiting[2])
        await writer.add(b"3")
        writer.close()

    asyncio.run(run())
    assert {b"0", b"2", b"3"} <= set(kept(root))
