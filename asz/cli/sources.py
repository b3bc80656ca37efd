"""``asz sources``."""

from base64 import b64encode
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from asz.cli.invocation import Invocation, adapter_option, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, printable, table

if TYPE_CHECKING:
    from asz.plugins import Adapter
    from asz.storage.cursors import Cursor
    from asz_hookspecs import Discovery, Session


@_command("sources")
@adapter_option
@json_option
@click.option("--cursors", is_flag=True, help="List how far each source was read instead.")
@click.option("--conflicts", is_flag=True, help="List sources that were rewritten instead.")
@click.option("--gone", is_flag=True, help="List the sources that are there no more instead.")
@click.option(
    "--resolve", metavar="SOURCE", help="Accept a source in conflict, or all, as it is now."
)
def command(
    invocation: Invocation,
    only: tuple[str, ...],
    as_json: bool,
    cursors: bool,
    conflicts: bool,
    gone: bool,
    resolve: str | None,
) -> int:
    """List the sessions and sources a pass would look at; nothing is written but by --resolve."""
    if resolve is not None:
        return _resolve(invocation, resolve)
    if conflicts:
        return _conflicts(invocation, as_json)
    if gone:
        return _gone(invocation, as_json)
    if cursors:
        return _cursors(invocation, as_json)
    found = _discover(invocation, only)
    if as_json:
        click.echo(json_text([_as_json(adapter, discovery) for adapter, discovery in found]))
        return invocation.status
    for adapter, discovery in found:
        sessions = sorted(discovery.sessions, key=lambda session: session.id)
        sources = sum(len(session.sources) for session in sessions)
        click.echo(f"{adapter.title}: {len(sessions)} sessions, {sources} sources")
        for root in discovery.roots:
            click.echo(f"  reads {printable(root)}")
        for session in sessions:
            click.echo(f"  {session.id}")
            for line in _lines(session):
                click.echo(f"    {line}")
    return invocation.status


def _resolve(invocation: Invocation, source: str) -> int:
    from asz.collect.conflicts import resolve

    for cursor in resolve(invocation.open_root(write=True), source):
        click.echo(
            f"{printable(cursor.src)}: the next pass reads it from its start, as reading "
            f"{cursor.gen + 1}"
        )
    return invocation.status


def _conflicts(invocation: Invocation, as_json: bool) -> int:
    from asz.collect.conflicts import conflicts
    from asz.storage.times import format_ns

    found = conflicts(invocation.open_root())
    if as_json:
        click.echo(json_text([{**asdict(c), "at": format_ns(c.at_ns)} for c in found]))
        return invocation.status
    for conflict in found:
        became = "not read" if conflict.reading is None else f"landed as reading {conflict.reading}"
        when = format_ns(conflict.at_ns)[:19]
        click.echo(
            printable(f"{conflict.session}  {when}  {conflict.src}: {conflict.reason}; {became}")
        )
    return invocation.status


def _gone(invocation: Invocation, as_json: bool) -> int:
    from asz.storage.cursors import read_cursors
    from asz.storage.times import format_ns

    root = invocation.open_root()
    found = [
        (session, format_ns(cursor.gone_at), cursor.kind, cursor.src)
        for session in root.sessions()
        for cursor in read_cursors(root.session_dir(session)).values()
        if cursor.state == "source_gone"
    ]
    names = ("session", "gone_at", "kind", "src")
    if as_json:
        click.echo(json_text([dict(zip(names, row, strict=True)) for row in found]))
        return invocation.status
    rows = [(session, at[:19], kind, src) for session, at, kind, src in sorted(found)]
    for line in table(("SESSION", "GONE SINCE (UTC)", "KIND", "SOURCE"), rows):
        click.echo(line)
    return invocation.status


def _cursors(invocation: Invocation, as_json: bool) -> int:
    from asz.storage.cursors import read_cursors

    root = invocation.open_root()
    found = [
        (session, cursor)
        for session in root.sessions()
        for cursor in read_cursors(root.session_dir(session)).values()
    ]
    found.sort(key=lambda pair: (pair[0], pair[1].place, pair[1].kind, pair[1].src))
    if as_json:
        click.echo(json_text([_cursor_as_json(session, cursor) for session, cursor in found]))
        return invocation.status
    names = ("adapter", "label", "state", "kind", "ord", "offset", "gen", "last_seq", "src")
    rows = [(session, *(getattr(cursor, name) for name in names)) for session, cursor in found]
    header = ("SESSION", *(name.upper() for name in names))
    for line in table(header, [tuple(map(str, row)) for row in rows]):
        click.echo(line)
    return invocation.status


def _cursor_as_json(session: str, cursor: "Cursor") -> dict[str, Any]:
    """All that is kept of a source; what is the adapter's own as base64."""
    import msgspec

    values = {"session": session, **msgspec.structs.asdict(cursor), "path": printable(cursor.path)}
    return {
        name: b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in values.items()
    }


def _discover(invocation: Invocation, only: tuple[str, ...]) -> "list[tuple[Adapter, Discovery]]":
    from asz.errors import AdapterFailure

    found = []
    for adapter in invocation.adapters(only).active:
        try:
            discovery = adapter.discover(adapter.options, lambda _session: frozenset())
        except AdapterFailure as failure:
            invocation.error(failure)
            continue
        found.append((adapter, discovery))
        for problem in discovery.problems:
            invocation.error(problem.message)
        for text in (*discovery.skipped, *discovery.notes):
            invocation.note(f"adapter {adapter.title}: {text}")
    return found


def _lines(session: "Session") -> list[str]:
    rows = [(source.kind, _place(source), source.src) for source in session.sources]
    return table(("KIND", "PLACE", "SOURCE"), rows)[1:] if rows else []


def _place(source: Any) -> str:
    if source.batch is not None:
        return f"run {source.batch}"
    return f"{source.stream} (auxiliary)" if source.auxiliary else str(source.stream)


def _as_json(adapter: "Adapter", discovery: "Discovery") -> dict[str, Any]:
    return {
        "adapter": adapter.name,
        "label": adapter.label,
        "runtime": adapter.info.runtime,
        "roots": [printable(root) for root in discovery.roots],
        "complete": discovery.complete,
        "problems": [printable(problem.message) for problem in discovery.problems],
        "skipped": [printable(text) for text in discovery.skipped],
        "sessions": [
            {
                "id": session.id,
                "sources": [
                    {
                        "src": source.src,
                        "kind": source.kind,
                        "shape": source.shape,
                        "root": printable(source.root),
                        "stream": source.stream,
                        "batch": source.batch,
                        "auxiliary": source.auxiliary,
                        "compression": source.compression,
                    }
                    for source in session.sources
                ],
            }
            for session in sorted(discovery.sessions, key=lambda session: session.id)
        ],
    }
