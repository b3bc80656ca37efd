"""The receivers of a watching command, and what they have to say on standard error."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from asz.cli.invocation import Invocation

if TYPE_CHECKING:
    from asz.collect.passes import Collector
    from asz.plugins import Adapters


@contextmanager
def receivers(
    invocation: Invocation, adapters: "Adapters", collector: "Collector"
) -> Iterator[None]:
    """Adapters that are pushed to serve while the block runs. One that cannot costs its line."""
    if not any(adapter.receives for adapter in adapters.active):
        yield
        return
    from asz.receiving import receiving

    with (
        _warnings_said(invocation),
        receiving(collector.root, adapters.active, collector.limits, invocation),
    ):
        yield


def note_idle(invocation: Invocation, adapters: "Adapters") -> None:
    """With ``-v``, say which adapters a single pass leaves idle."""
    for adapter in adapters.active:
        if adapter.receives:
            invocation.note(f"{adapter.title}: receives while asz collect watches; not in one pass")


class _Said(logging.Handler):
    def __init__(self, invocation: Invocation) -> None:
        super().__init__(logging.WARNING)
        self._invocation = invocation

    def emit(self, record: logging.LogRecord) -> None:
        self._invocation.say(f"warning: {' '.join(record.getMessage().split())}")


@contextmanager
def _warnings_said(invocation: Invocation) -> Iterator[None]:
    """What an adapter logs as a warning, in the form of all other lines. A receiver serves for as long as
    asz watches and has no other way to say something meanwhile."""
    handler = _Said(invocation)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
