"""Passes of pushing: what this receiver was not sent yet, in order, each request saved as it is taken."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from asz.config.settings import Otlp
from asz.errors import BusyError
from asz.export.clock import SYSTEM, Clock
from asz.export.counting import Display, Nothing, Pass, some
from asz.export.endpoint import Receiver
from asz.export.limiter import Limiter
from asz.export.sender import Sender
from asz.export.state import LOCK, SentState, export_dir
from asz.export.todo import Todo, look
from asz.storage.locks import hold
from asz.storage.root import MARKER, Root

if TYPE_CHECKING:
    from asz.export.exchange import Transport


class Pusher:
    """Pushes one root to one receiver, pass after pass."""

    def __init__(
        self,
        root: Root,
        otlp: Otlp,
        receiver: Receiver,
        runtimes: Callable[[], Mapping[str, str]],
        clock: Clock = SYSTEM,
    ) -> None:
        """Nothing is looked at yet.

        :param runtimes: display names of runtimes by the ``service.name`` of their own exporters; asked
            once there are metrics to send.
        """
        limiter = Limiter(otlp.max_bytes_per_minute, clock.monotonic)
        self._sender = Sender(root, otlp, receiver.name, runtimes, limiter, clock)
        self.receiver = receiver

    def run(
        self,
        display: Display | None = None,
        *,
        retry_refused: bool = False,
        deadline: float | None = None,
    ) -> Pass:
        """One pass. What it left is in what it returns.

        :param retry_refused: send again what the receiver refused before.
        :param deadline: moment of the monotonic clock after which no request is begun; what is left then
            is pending.
        :raises RootError: the root cannot be written.
        :raises KeyboardInterrupt: what was taken before is saved.
        """
        clock, root = self._sender.clock, self._sender.root
        began = clock.monotonic()
        made = Pass()
        if not (root.path / MARKER).exists():  # nothing has landed
            return made
        try:
            with (
                hold(export_dir(root) / LOCK),
                closing(SentState.open(root, self._sender.name)) as state,
            ):
                todo = self._look(made, state, retry_refused)
                if todo.count and not made.wait:
                    self._send(made, state, todo, display or Nothing(), deadline)
        except BusyError as error:
            _problem(made, f"{error}; a later pass sends what there is")
        except (OSError, sqlite3.Error) as error:
            where = getattr(error, "filename", None) or export_dir(root)
            reason = getattr(error, "strerror", None) or error
            _problem(made, f"{where}: {reason}; a later pass sends what is left")
        made.seconds = clock.monotonic() - began
        return made

    def _send(
        self, made: Pass, state: SentState, todo: Todo, display: Display, deadline: float | None
    ) -> None:
        from asz.export.sending import (
            Sending,
        )  # protobuf and what else a pass with nothing new lacks

        with closing(connect(self.receiver)) as transport:
            Sending(self._sender, transport, state, todo, made, display, deadline).run()

    def _look(self, made: Pass, state: SentState, retry_refused: bool) -> Todo:
        """What waits, unless the receiver asked for peace."""
        sender = self._sender
        if state.rebuilt:
            made.warnings.append("what was sent is not known any more; everything is sent again")
        todo = look(sender.root, sender.otlp, state, retry_refused=retry_refused)
        made.counts.refused = len(todo.refused)
        if todo.refused:
            made.problems.append(
                f"{some(todo.refused)}: refused by {sender.name}; to send again: "
                "asz push --retry-refused"
            )
        made.wait = state.remaining(sender.clock.now_ns() / 1e9)
        if todo.count and made.wait:
            made.counts.pending = todo.count
            made.problems.append(
                f"{sender.name} asked to be left alone for another {made.wait:.0f} s; nothing is sent"
            )
        return todo


def connect(receiver: Receiver) -> "Transport":
    """A transport of the receiver's protocol; nothing is sent yet."""
    if receiver.protocol == "grpc":
        from asz.export.over_grpc import GrpcTransport

        return GrpcTransport(receiver)
    from asz.export.over_http import HttpTransport

    return HttpTransport(receiver)


def _problem(made: Pass, text: str) -> None:
    made.counts.errors += 1
    made.problems.append(text)
