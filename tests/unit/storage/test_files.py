"""Write-once files, locks, times."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asz.errors import BusyError
from asz.storage.database import Schema, open_database
from asz.storage.files import (
    create_private,
    remove_temporaries,
    replace,
    write_once,
    write_pending,
)
from asz.storage.locks import hold
from asz.storage.names import safe_component, safe_src
from asz.storage.steps import Step
from asz.storage.times import format_ns, parse_ns, stamp_now

WRITE = (Step.FILE_WRITE, Step.FILE_INSTALL)


def test_a_file_is_whole_private_and_read_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write_once(tmp_path, "f", b"bytes", *WRITE)
    finally:
        os.umask(old)
    assert (tmp_path / "f").read_bytes() == b"bytes"
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o400
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("umask", [0, 0o777])
def test_files_that_change_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        os.close(create_private(tmp_path / "made"))
        replace(tmp_path / "cache", b"bytes", Step.STATE_SAVE)
        with hold(tmp_path / ".lock"):
            pass
        open_database(tmp_path / "state.db", Schema("CREATE TABLE t(a);", 1)).close()
    finally:
        os.umask(old)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("made", "cache", ".lock", "state.db"), 0o600)


def test_an_existing_file_is_never_replaced(tmp_path: Path) -> None:
    write_once(tmp_path, "f", b"first", *WRITE)
    with pytest.raises(FileExistsError):
        write_once(tmp_path, "f", b"second", *WRITE)
    assert (tmp_path / "f").read_bytes() == b"first"


def test_nothing_is_visible_before_it_is_installed(tmp_path: Path) -> None:
    write_pending(tmp_path, "f", b"bytes", Step.FILE_WRITE)
    assert not (tmp_path / "f").exists()
    remove_temporaries(tmp_path)
    assert os.listdir(tmp_path) == []


def test_where_links_are_not_supported_files_are_still_installed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", no_link)
    write_once(tmp_path, "f", b"first", *WRITE)
    with pytest.raises(FileExistsError):
        write_once(tmp_path, "f", b"second", *WRITE)
    assert (tmp_path / "f").read_bytes() == b"first"


def test_a_lock_is_held_once_and_dies_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    program = f"""
import os, sys
from pathlib import Path
from asz.storage.locks import hold
with hold(Path({str(lock)!r})):
    print("held", flush=True)
    sys.stdin.read()
    os._exit(9)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BusyError, match="another process"), hold(lock):
            pass
        holder.kill()
        holder.wait()
    with hold(lock):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    with hold(lock):
        pass


def test_a_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    from asz.errors import RootError

    (tmp_path / "target").write_text("")
    (tmp_path / ".lock").symlink_to(tmp_path / "target")
    with pytest.raises(RootError), hold(tmp_path / ".lock"):
        pass


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-08-06T16:57:22.652Z", 1_786_035_442_652_000_000),
        ("2026-08-06t16:57:22.123456789z", 1_786_035_442_123_456_789),
        ("2026-08-06 18:57:22+02:00", 1_786_035_442_000_000_000),
        ("2026-08-06T16:57:22.1234567891Z", 1_786_035_442_123_456_789),
        ("1969-12-31T23:59:59.5Z", -500_000_000),
    ],
)
def test_times_are_read_to_the_nanosecond(text: str, ns: int) -> None:
    assert parse_ns(text) == ns


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-08-06", "2026-13-06T16:57:22Z", "2026-08-06T25:57:22Z", "1786035442",
     "2026-08-06T16:57:60Z", "2026-08-06T16:57:22", "٢٠٢٦-08-06T16:57:22Z", "2026-08-06T16:57:22Z\n",
     "0001-01-01T00:00:00Z", "2263-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"],
)  # fmt: skip
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_ns(text) is None


@given(st.integers(-(10**18), 4 * 10**18))
def test_a_time_comes_back(ns: int) -> None:
    assert parse_ns(format_ns(ns)) == ns


def test_both_forms_of_a_stamp_are_one_moment() -> None:
    at, stamp = stamp_now()
    assert at.replace("-", "").replace(":", "") == stamp
    assert len(stamp) == len("20260831T091204.481523000Z")


@given(st.text())
def test_a_safe_component_is_one_name_everywhere(text: str) -> None:
    if safe_component(text):
        assert text.isascii()
        assert not set(text) & set('/\\:*?"<>|\0 ')
        assert text[0] not in "._"
        assert text[-1] != "."


@given(st.text(alphabet="ab./\\\0~"))
def test_a_safe_source_path_stays_below_its_root(text: str) -> None:
    if safe_src(text):
        root = Path("/some/root")
        assert root in Path(os.path.normpath(root / text)).parents
        assert (root / text).relative_to(root).as_posix() == text
