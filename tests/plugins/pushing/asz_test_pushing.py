"""An adapter whose runtime keeps no files: it pushes its records over a socket as they happen.

A push is one line of JSON with ``session``, ``stream``, ``src`` and ``lines``; the answer is ``kept``,
``busy``, ``full`` or ``refused: …``, on a line of its own.
"""

import asyncio
import json
from contextlib import asynccontextmanager

from asz_hookspecs import (
    AdapterError,
    AdapterInfo,
    Busy,
    Converted,
    Part,
    Record,
    StorageFull,
    Term,
    hookimpl,
)
from asz_hookspecs.vocabulary import GLOSSARY

ASZ_CONTRACT = 1


@hookimpl
def asz_adapter():
    return AdapterInfo(
        version="0.1",
        runtime="Pushing Agent",
        dialect="pushing/1",
        options="asz_test_pushing_options:Options",
    )


@hookimpl
def asz_receive(options, sink):
    return _served(options.port, sink)


@asynccontextmanager
async def _served(port, sink):
    async def answer(reader, writer):
        while line := await reader.readline():
            writer.write(await _put(sink, json.loads(line)) + b"\n")
            await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, "127.0.0.1", port)
    except OSError as error:
        raise AdapterError(f"port {port}: {error.strerror}") from error
    try:
        yield
    finally:
        server.close()


async def _put(sink, push):
    lines = [line.encode() for line in push["lines"]]
    try:
        await sink.records(push["session"], push["stream"], "transcript", push["src"], lines)
    except Busy:
        return b"busy"
    except StorageFull:
        return b"full"
    except AdapterError as error:
        return f"refused: {error}".encode()
    return b"kept"


@hookimpl
def asz_convert(records, carry):
    """The carry is the number of records so far, which become the runs' names."""
    first = int(carry or b"0") + 1
    made = [_record(raw, number) for number, raw in enumerate(records, first)]
    return Converted(made, b"%d" % (first - 1 + len(made)))


def _record(raw, number):
    text = raw.decode()
    if text == "raise":
        raise ZeroDivisionError(text)
    return Record(
        id=f"p{number}",
        run=f"p{number}",
        trigger="external",
        from_="external",
        flags=("external_input",),
        parts=[Part("text", text=text, size=len(raw))],
    )


@hookimpl
def asz_glossary():
    return [Term(name, "", "") for name in GLOSSARY]
