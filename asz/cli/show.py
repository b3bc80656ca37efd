"""``asz show``."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, printable
from asz.errors import NotFoundError

if TYPE_CHECKING:
    from asz.storage.rows import FileRow, RecordRow, SessionRows
    from asz.storage.sd import LandedPart

_INDENT = " " * 11

_ADDRESS: Final = re.compile(r"(?a:(\d{1,18}):(\d{1,18}))")
"""``seq:row``, as ``asz conversation`` prints it in brackets."""


class _Landed(NamedTuple):
    """A landed record with its place."""

    file: "FileRow"
    row: int
    line: bytes
    """The record as it landed."""
    parts: "list[LandedPart]"


@_command("show")
@click.argument("session")
@click.argument("id_", metavar="ID")
@json_option
def command(invocation: Invocation, session: str, id_: str, as_json: bool) -> int:
    """Print the landed records behind a record id, a tool-use id or an address such as 1:23.

    SESSION and ID may be shortened to what is unique. A record id that landed more than once shows every
    copy; a tool-use id shows the record that asked and the one that answered.
    """
    from asz.storage import index

    root = invocation.open_root()
    directory = root.session_dir(resolve(session, root.sessions(), "session"))
    rows = index.load(directory)
    found = [_read(directory, rows, record) for record in _matching(rows, id_)]
    if as_json:
        click.echo(json_text([_as_json(landed) for landed in found]))
    else:
        click.echo("\n\n".join("\n".join(_lines(landed)) for landed in found))
    return invocation.status


def _matching(rows: "SessionRows", id_: str) -> "list[RecordRow]":
    by_id: dict[str, list[RecordRow]] = {}
    for record in rows.records:
        for name in dict.fromkeys((record.id, *(part.id for part in record.parts))):
            if name is not None:
                by_id.setdefault(name, []).append(record)
    address = _ADDRESS.fullmatch(id_)
    if address is not None and id_ not in by_id:
        return [_at(rows, *map(int, address.groups()))]
    return by_id[resolve(id_, by_id, "record")]


def _at(rows: "SessionRows", seq: int, row: int) -> "RecordRow":
    for record in rows.records:
        if (record.seq, record.row) == (seq, row):
            return record
    raise NotFoundError(f"no record landed at {seq}:{row}")


def _read(directory: Path, rows: "SessionRows", record: "RecordRow") -> _Landed:
    from asz.storage.sd import read_file

    file = rows.files[record.seq]
    landed = read_file(directory / file.name)
    typed = next(islice(landed.records(), record.row - 1, None))
    return _Landed(file, record.row, landed.lines[record.row - 1], typed.parts)


def _as_json(landed: _Landed) -> dict[str, Any]:
    from asz.jsonio import Fragment

    return {
        "seq": landed.file.seq,
        "row": landed.row,
        "file": landed.file.name,
        "kind": landed.file.kind,
        "src": landed.file.src,
        "record": Fragment(landed.line),
    }


def _lines(landed: _Landed) -> Iterator[str]:
    from asz.jsonio import decode

    file, record = landed.file, decode(landed.line)
    place = f"{file.seq}:{landed.row}  {file.name}"
    yield printable(f"{place}  (record {record['ord']} of {file.src})")
    for key, value in record.items():
        if key == "parts":
            for block, part in enumerate(landed.parts):
                yield from _part_lines(block, part)
        else:
            yield f"  {key:<8} {printable(_short(value))}"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={_short(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    return str(value)


def _part_lines(block: int, part: "LandedPart") -> Iterator[str]:
    facts = [fact for fact in (part.k, part.name, part.id, part.of, part.media) if fact]
    if part.failed is not None:
        facts.append("failed" if part.failed else "not failed")
    if part.state != "available":
        facts.append(part.state)
    yield printable(f"  part {block:<3} {' '.join(facts)} ({part.size} bytes)")
    for text in (part.text or "", bytes(part.data).decode()):
        for line in text.splitlines():
            yield _INDENT + printable(line)
