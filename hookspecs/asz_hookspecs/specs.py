"""The hooks. The core calls each for one named adapter at a time and consumes what it returns inside
the guarded call, so an error never costs another adapter anything.

Signatures hold at most four parameters, without defaults. An implementation may leave parameters
out; new ones are only ever appended.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from asz_hookspecs.markers import hookspec

if TYPE_CHECKING:
    from asz_hookspecs.discovery import Discovery, Followed
    from asz_hookspecs.glossary import Term
    from asz_hookspecs.info import AdapterInfo
    from asz_hookspecs.metrics import FinishedCall, MetricPoint
    from asz_hookspecs.record import Converted
    from asz_hookspecs.sink import Sink
    from asz_hookspecs.source import RawRecord, Source


@hookspec
def asz_adapter() -> "AdapterInfo":  # type: ignore[empty-body]
    """Say who the adapter is.

    :Called: once, when the adapter is loaded. Required.
    :Returns: ``AdapterInfo``, at once, without I/O.
    :Errors: anything raised marks the adapter ``broken``; other adapters go on.
    :Hot path: no.
    :Since: contract 1.
    :Example: ``asz_claude_code.plugin``.
    """


@hookspec
def asz_discover(options: Any, followed: "Followed") -> "Discovery":  # type: ignore[empty-body]
    """Find every session of the runtime and the sources of each.

    :Called: once in every pass, before anything is read. Required for an adapter with sources.
    :param options: the adapter's validated options model, or ``None`` when it declares none. Not to
        be changed.
    :param followed: tells which sources of a session a cursor already follows.
    :Returns: ``Discovery``. Sessions in any order; the core sorts. Nothing may be remembered from an
        earlier call: what is not returned, and is not under a problem's prefix, is checked for having
        gone.
    :Errors: ``AdapterError`` with one line a user can act on (a configured root that is missing).
        The pass goes on with the other adapters and ends non-zero.
    :Hot path: no, but it decides how fast a pass with nothing new is.
    :Since: contract 1.
    :Example: ``asz_claude_code.plugin``.
    """


@hookspec
def asz_land(options: Any, source: "Source", position: bytes) -> "Iterable[RawRecord]":  # type: ignore[empty-body]
    """Read the new records of a source whose runtime keeps its history elsewhere than in plain files.

    :Called: once in a pass for each source of shape ``custom``. Not needed for other shapes.
    :param options: as in ``asz_discover``.
    :param source: one of the adapter's own sources.
    :param position: what the last durable record carried; empty at the start.
    :Returns: an iterable of ``RawRecord``, consumed lazily, in an order that never changes.
    :Errors: ``SourceError``: this source is counted as an error and what was yielded before is kept.
    :Hot path: yes, but called once a source.
    :Since: contract 1.
    :Example: ``tests/plugins/working`` in asz's own tests.
    """


@hookspec
def asz_convert(source: "Source", records: Sequence[bytes], carry: bytes) -> "Converted":  # type: ignore[empty-body]
    """Turn a window of raw records into Session Data.

    :Called: for every window of a source, in order; a window is about 2 MiB, never a single line by
        design. Again, one record at a time, when a window failed. Required.
    :param source: where the records come from.
    :param records: the raw records, each without its line end. Not to be changed.
    :param carry: what the call for the window before returned; empty at the source's start.
    :Returns: ``Converted``: as many records as were given, in the same order, and the next carry. The
        result depends on the arguments alone, however the windows are cut: no I/O, no clock, no state.
    :Errors: none should leave it: a record that cannot be described is ``damaged(raw, why)``. When a
        call raises, the window is tried record by record and the records that still fail land whole
        as one ``unknown`` part, counted ``damaged``, and the pass ends non-zero naming the adapter.
    :Hot path: yes, the hottest of all.
    :Since: contract 1.
    :Example: ``asz_claude_code.convert``.
    """


@hookspec
def asz_derive_metrics(options: Any, calls: "Sequence[FinishedCall]") -> "Iterable[MetricPoint]":  # type: ignore[empty-body]
    """Make metric points of finished provider calls.

    :Called: after landing, when the adapter's metrics are on, with calls of its sessions that were not
        counted before. Not needed by an adapter without metrics.
    :param options: as in ``asz_discover``.
    :param calls: the calls, in an order that never changes. The core finds them, hands each over once,
        applies the look-back, waits at file boundaries.
    :Returns: points in any order, consumed at once. The core adds up what is of one series and minute,
        cuts windows and writes the spool; the result depends on the arguments alone.
    :Errors: anything raised: nothing of these calls counts in this pass, and a later one tries again.
    :Hot path: no.
    :Since: contract 1.
    :Example: ``asz_claude_code.metrics``.
    """


@hookspec
def asz_receive(options: Any, sink: "Sink") -> "AbstractAsyncContextManager[None]":  # type: ignore[empty-body]
    """Serve peers that push, for as long as asz watches.

    :Called: once, in a running event loop, when ``asz collect`` begins to watch; not by a single pass.
        An adapter with this hook needs no ``asz_discover``.
    :param options: as in ``asz_discover``.
    :param sink: where to put what is received; answer a peer only after it returned.
    :Returns: an asynchronous context manager: entered, it serves; left, it has ended within a second
        and everything it answered is durable. What it logs as a warning is shown on standard error.
    :Errors: ``AdapterError`` on entering, with one line a user can act on (the port is taken): asz goes
        on without this receiver and ends non-zero.
    :Hot path: no.
    :Since: contract 1.
    :Example: ``asz_claude_code_otlp.plugin``.
    """


@hookspec
def asz_glossary() -> "Sequence[Term]":  # type: ignore[empty-body]
    """Say what the runtime calls each name of the model.

    :Called: by ``asz glossary``. Required.
    :Returns: one ``Term`` for each name in ``vocabulary.GLOSSARY``, in any order. A name the runtime
        has no word for has an empty ``native`` and ``where``.
    :Errors: anything raised is shown as this adapter's one line.
    :Hot path: no.
    :Since: contract 1.
    :Example: ``asz_claude_code.glossary``.
    """
