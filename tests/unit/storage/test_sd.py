"""Landed files: what a reader takes and what it refuses."""

import hashlib
from pathlib import Path

import pytest

from asz.errors import FormatError
from asz.storage.sd import Header, encode_closing, encode_header, read_file, read_header

HEADER = Header(
    h=1, schema="sd/1", seq=7, at="2026-09-01T12:56:03.181800000Z", kind="transcript",
    adapter="plain/1", dialect="plain/1", runtime="Plain", src="a/b.jsonl", session="s", stream="main",
)  # fmt: skip
RECORD = b'{"ord":1,"off":0,"sha":"abc","bytes":3,"strange":[1]}\n'


def landed(path: Path, *lines: bytes, head: bytes | None = None, count: int | None = None) -> Path:
    body = (encode_header(HEADER) if head is None else head) + b"".join(lines)
    digest = hashlib.sha256(body).hexdigest()
    path.write_bytes(body + encode_closing(len(lines) if count is None else count, digest))
    return path


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = landed(tmp_path / "f.sd", RECORD, RECORD)
    file = read_file(path)
    assert (file.header.seq, file.header.stream, file.header.gen) == (7, "main", None)
    assert [record.ord for record in file.records()] == [1, 1]
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_header(path) == file.header


def test_header_keys_stand_in_their_order() -> None:
    line = encode_header(HEADER)
    assert line == (
        b'{"h":1,"schema":"sd/1","seq":7,"at":"2026-09-01T12:56:03.181800000Z","kind":"transcript",'
        b'"adapter":"plain/1","dialect":"plain/1","runtime":"Plain","src":"a/b.jsonl","session":"s",'
        b'"stream":"main"}\n'
    )


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:-30], "cut"),
        (lambda data: data.replace(b"abc", b"abd"), "digest"),
        (lambda data: b"", "cut"),
        (lambda data: b"\n", "no sd/1 header"),
        (lambda data: data.replace(b'"h":1', b'"h":2'), "h=2"),
        (lambda data: data.replace(b"sd/1", b"sd/9"), "sd/9"),
        (lambda data: data.replace(b'"kind":"transcript"', b'"kind":""'), "lacks"),
        (lambda data: data.replace(b'"src":"a/b.jsonl",', b""), "src"),
    ],
    ids=["cut", "changed", "empty", "blank", "h", "schema", "no kind", "no src"],
)
def test_what_is_not_whole_is_refused_by_name(tmp_path: Path, damage: object, reason: str) -> None:
    path = landed(tmp_path / "f.sd", RECORD)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(FormatError, match=reason) as error:
        read_file(path)
    assert str(path) in str(error.value)


def test_a_header_needs_no_more_than_the_format_insists_on(tmp_path: Path) -> None:
    head = b'{"h":1,"schema":"sd/1","kind":"changes","session":"s","src":"x","dialect":"other/2"}\n'
    file = read_file(landed(tmp_path / "f.sd", RECORD, head=head))
    assert (file.header.dialect, file.header.runtime, file.header.adapter) == ("other/2", "", "")


def test_a_wrong_count_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="counts 3 records, file holds 1"):
        read_file(landed(tmp_path / "f.sd", RECORD, count=3))


def test_a_line_that_is_no_record_is_refused_when_it_is_read(tmp_path: Path) -> None:
    file = read_file(landed(tmp_path / "f.sd", RECORD, b'{"ord":"one"}\n'))
    with pytest.raises(FormatError, match="row 2"):
        list(file.records())
