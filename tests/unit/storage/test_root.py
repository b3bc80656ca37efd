"""Which directory may be a storage root."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from asz.errors import NotFoundError, RootError
from asz.storage import steps
from asz.storage.root import Root
from asz.storage.steps import Moment, Step


def test_a_new_root_is_private_and_marked(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        root = Root.open(tmp_path / "a" / "root", write=True)
        root.make()
    finally:
        os.umask(old)
    assert (root.path / "_root.json").read_text() == '{"format":"asz-root/1"}\n'
    assert stat.S_IMODE(root.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((root.path / "_root.json").stat().st_mode) == 0o400


def test_opening_to_write_makes_nothing_yet(tmp_path: Path) -> None:
    Root.open(tmp_path / "root", write=True)
    assert not (tmp_path / "root").exists()


def test_a_missing_root_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RootError, match="asz collect"):
        Root.open(tmp_path / "root", write=False)


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ('{"format":"asz-root/2"}', "newer asz"),
        ('{"format":"other"}', "not a format of asz"),
        ("{}", "damaged"),
        ("\xff", "damaged"),
    ],
)
def test_another_format_is_refused_by_name(tmp_path: Path, marker: str, reason: str) -> None:
    (tmp_path / "_root.json").write_text(marker)
    with pytest.raises(RootError, match=reason):
        Root.open(tmp_path, write=False)


def test_a_file_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RootError, match="not a directory"):
        Root.open(tmp_path / "file", write=True)


def test_a_directory_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_text("")
    for write in (False, True):
        with pytest.raises(RootError, match=r"holiday\.jpg"):
            Root.open(tmp_path, write=write)


def test_sessions_without_a_marker_are_read_and_never_written(tmp_path: Path) -> None:
    (tmp_path / "s" / "streams").mkdir(parents=True)
    (tmp_path / "_conversations").mkdir()
    assert Root.open(tmp_path, write=False).sessions() == ["s"]
    with pytest.raises(RootError, match="read only"):
        Root.open(tmp_path, write=True)


@pytest.mark.parametrize(("root", "source"), [("a/b", "a"), ("a", "a/b"), ("a", "a")])
def test_a_root_and_a_source_lie_apart(tmp_path: Path, root: str, source: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(RootError, match="one inside the other"):
        Root(tmp_path / root).check_apart([tmp_path / source])


def test_links_do_not_hide_that_they_lie_together(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "source")
    with pytest.raises(RootError):
        Root(tmp_path / "link" / "root").check_apart([tmp_path / "source"])


@pytest.mark.parametrize("name", ["..", "_metrics", "a/b", "", ".hidden", "con", "x" * 300, "a\0b"])
def test_no_id_leaves_the_root(tmp_path: Path, name: str) -> None:
    root = Root(tmp_path)
    with pytest.raises(NotFoundError):
        root.session_dir(name)
    with pytest.raises(NotFoundError):
        root.conversation_dir(name)


def test_an_empty_directory_that_becomes_a_root_is_private(tmp_path: Path) -> None:
    directory = tmp_path / "root"
    directory.mkdir(mode=0o755)
    Root.open(directory, write=True).make()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_link_in_place_of_a_session_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = Root.open(tmp_path / "root", write=True)
    root.make()
    (root.path / "s").symlink_to(outside)
    with pytest.raises(RootError, match="not a directory of the storage root"):
        root.make_session_dir("s")
    assert root.sessions() == []


def test_threads_that_make_it_at_once_get_on(tmp_path: Path) -> None:
    for number in range(20):
        root = Root.open(tmp_path / str(number), write=True)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _turn, made=root: made.make(), range(4)))
        assert [path.name for path in root.path.iterdir()] == ["_root.json"]


def test_a_marker_whose_temporary_another_process_took_is_tried_again(tmp_path: Path) -> None:
    root = Root.open(tmp_path / "root", write=True)
    taken: list[Path] = []

    def take(step: Step, moment: Moment) -> None:
        if step is Step.FILE_SYNC and moment == "before" and not taken:
            taken.append(root.path / ".tmp-_root.json")
            taken[0].unlink()

    steps.observer = take
    try:
        root.make()
    finally:
        steps.observer = lambda _step, _moment: None
    assert taken
    assert [path.name for path in root.path.iterdir()] == ["_root.json"]


def test_a_marker_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    root = Root.open(tmp_path / "root", write=True)
    root.path.mkdir()
    (root.path / "_root.json").symlink_to("nowhere")
    with pytest.raises(RootError, match="move it away"):
        root.make()
