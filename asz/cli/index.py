"""``asz index``."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, table

if TYPE_CHECKING:
    from asz.storage.root import Root
    from asz.storage.rows import FileRow


@_command("index")
@click.argument("session", required=False)
@json_option
def command(invocation: Invocation, session: str | None, as_json: bool) -> int:
    """Say what the derived index holds, of every session or of one."""
    root = invocation.open_root()
    if session is None:
        rows = list(_coverage(invocation, root))
    else:
        rows = list(_holdings(root, resolve(session, root.sessions(), "session")))
    if as_json:
        click.echo(json_text(rows))
    elif rows:
        header = [key.upper() for key in rows[0]]
        for line in table(header, [[str(value) for value in row.values()] for row in rows]):
            click.echo(line)
    return invocation.status


def _coverage(invocation: Invocation, root: "Root") -> Iterator[dict[str, Any]]:
    """One row a session: how far its index goes and how far its landed files do."""
    from asz.storage import index
    from asz.storage.landed import landed_names

    for session in root.sessions():
        directory = root.session_dir(session)
        try:
            names = landed_names(directory)
        except OSError as error:
            invocation.left(session, error)
            continue
        landed = names[-1].seq if names else 0
        covered = index.covered(directory)
        state = "complete" if covered == landed else "behind"
        yield {
            "session": session,
            "files": len(names),
            "covered": covered,
            "landed": landed,
            "state": state,
        }


def _holdings(root: "Root", session: str) -> Iterator[dict[str, Any]]:
    """One row for each kind of file in each stream and run of a session."""
    from asz.assembly import copies, streams
    from asz.storage import index

    rows = index.load(root.session_dir(session))
    originals = copies.remove(rows, streams.find(rows)).records
    own = Counter(record.seq for record in originals)
    groups: dict[tuple[str, str], list[FileRow]] = {}
    for file in rows.files.values():
        place = file.name.rpartition("/")[0]
        groups.setdefault((place, file.kind), []).append(file)
    for (place, kind), files in sorted(groups.items()):
        yield {
            "place": place,
            "kind": kind,
            "files": len(files),
            "records": sum(file.records for file in files),
            "copies": sum(file.records - own[file.seq] for file in files if kind != "changes"),
            "first": min(file.seq for file in files),
            "last": max(file.seq for file in files),
        }
