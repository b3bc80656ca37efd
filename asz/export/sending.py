"""One pass under the pusher's lock: read, batch, send, save."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from asz.errors import FormatError
from asz.export.batches import Batch, encode_logs, encode_metrics
from asz.export.counting import Display, Pass, some
from asz.export.exchange import Failed, Later, Signal, Taken, TooLarge, Transport
from asz.export.inventory import Item, sha256
from asz.export.records import Entry, Identity, SessionRecords
from asz.export.sender import Sender
from asz.export.state import LONGEST_WAIT, Digested, SentState
from asz.export.todo import Todo

MOST_FAILURES: Final = 3
"""Requests of one signal that may fail in a row before the rest waits for a later pass: one request that
a receiver cannot handle must not keep the others back, nor be repeated a thousand times."""

LARGEST: Final = (1 << 31) - (1 << 20)
"""Bytes of the largest file; protobuf has no messages of 2 GiB."""


class _SignalEnded(Exception):  # noqa: N818 - nothing went wrong that is not told already
    """Nothing more of this signal in this pass."""


class _PassEnded(Exception):  # noqa: N818
    """Nothing more in this pass."""


@dataclass
class Sending:
    """Sends what waits. Sent-state is saved after each request that was taken, and nothing before."""

    sender: Sender
    transport: Transport
    state: SentState
    todo: Todo
    made: Pass
    display: Display
    deadline: float | None
    """Moment of the monotonic clock after which no request is begun."""
    _limit: int = field(init=False)
    """Bytes a request stays below; less once the receiver refused one as too large."""
    _failures: int = 0
    _done: int = 0
    _done_bytes: int = 0
    _touched: list[Digested] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._limit = self.sender.otlp.batch_bytes

    def run(self) -> None:
        """Send everything, as far as the receiver lets it."""
        todo = self.todo
        self.display.start(todo.count, todo.size)
        try:
            with suppress(_PassEnded):
                self._signal(self._send_logs)
                self._signal(self._send_metrics)
        finally:
            self.made.counts.pending = todo.count - self._done
            if self._touched:
                self.state.touch(self._touched)

    def _signal(self, send: Callable[[], None]) -> None:
        self._failures = 0
        with suppress(_SignalEnded):
            send()

    # ---------------------------------------------------------------- logs

    def _send_logs(self) -> None:
        identity = self._identity
        batch = Batch(identity)
        for entry in self._entries():
            if not batch.fits(entry, self._limit):
                self._deliver(batch.entries)
                batch = Batch(identity)
            batch.add(entry)
        if batch.entries:
            self._deliver(batch.entries)

    def _entries(self) -> Iterator[Entry]:
        """Everything that waits, read."""
        records: SessionRecords | None = None
        session = ""
        for item in self.todo.logs:
            if records is None or item.session != session:
                session = item.session
                observed = self.sender.clock.now_ns()
                records = SessionRecords(self.sender.root, session, observed)
            data = self._read(item)
            if data is None:
                continue
            try:
                yield records.entry(item, data)
            except FormatError as error:
                self._damaged(item, error)

    def _deliver(self, entries: Sequence[Entry]) -> None:
        """Send records in one request, or in halves of it where it is too large for the receiver."""
        body = encode_logs(entries, self._identity)
        answer = self._exchange(Signal.LOGS, body)
        files = [Digested(entry.item, entry.digest) for entry in entries]
        if isinstance(answer, Taken):
            self._taken(files, answer, "records")
        elif isinstance(answer, TooLarge) and len(entries) == 1:
            self._refused(files[0], answer)
        elif isinstance(answer, TooLarge):
            self._limit = min(self._limit, len(body) // 2)
            half = len(entries) // 2
            self._deliver(entries[:half])
            self._deliver(entries[half:])

    # ---------------------------------------------------------------- metrics

    def _send_metrics(self) -> None:
        for item in self.todo.metrics:
            data = self._read(item)
            if data is None:
                continue
            path = str(self.sender.root.path / item.path)
            try:
                body = encode_metrics(path, data, self._identity, self._runtime_of)
            except FormatError as error:
                self._damaged(item, error)
                continue
            answer = self._exchange(Signal.METRICS, body)
            file = Digested(item, sha256(data))
            if isinstance(answer, Taken):
                self._taken([file], answer, "points")
            elif isinstance(answer, TooLarge):
                self._refused(file, answer)

    def _runtime_of(self, service: str) -> str:
        return self._runtimes.get(service, service)

    @cached_property
    def _runtimes(self) -> Mapping[str, str]:
        return {} if self.sender.otlp.service_name else self.sender.runtimes()

    @cached_property
    def _identity(self) -> Identity:
        otlp = self.sender.otlp
        return Identity(otlp.service_name, otlp.instance_id, otlp.layer)

    # ---------------------------------------------------------------- one file

    def _read(self, item: Item) -> bytes | None:
        """The bytes of a file, unless they need not or cannot be sent."""
        path = self.sender.root.path / item.path
        if item.size > LARGEST:
            self._problem(
                f"{path}: {item.size} bytes are more than a request can hold; it is not sent"
            )
            return None
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # its session was removed
            self._finish([item])
            return None
        except OSError as error:
            self._problem(f"{path}: cannot be read: {error.strerror}")
            return None
        before = self.todo.known.get(item.path)
        if before is not None:
            digest = sha256(data)
            outcomes = {sent.outcome for sent in before if sent.digest == digest}
            if "sent" in outcomes or (outcomes and not self.todo.retry_refused):
                self._touched.append(Digested(item, digest))
                if "sent" not in outcomes:
                    self.made.counts.refused += 1
                self._finish([item])
                return None
        return data

    def _damaged(self, item: Item, error: FormatError) -> None:
        self.made.counts.damaged += 1
        self.made.problems.append(f"{error}; it is not sent")
        self._finish([item])

    # ---------------------------------------------------------------- one request

    def _exchange(self, signal: Signal, body: bytes) -> Taken | TooLarge | None:
        """Send one request; ``None`` when it failed and others may do better."""
        self._pace(len(body))
        self.made.counts.requests += 1
        answer = self.transport.send(signal, body)
        if isinstance(answer, Taken | TooLarge):
            self._failures = 0
            return answer
        if isinstance(answer, Later):
            self._asked_to_wait(answer)
            raise _PassEnded
        self._failed(answer)
        return None

    def _pace(self, size: int) -> None:
        """Wait for the limiter, unless the pass is over before."""
        clock, limiter = self.sender.clock, self.sender.limiter
        delay = limiter.delay(size)
        if self.deadline is not None and clock.monotonic() + delay >= self.deadline:
            raise _PassEnded
        if delay:
            clock.sleep(delay)
        limiter.spend(size)

    def _asked_to_wait(self, answer: Later) -> None:
        said = f" ({answer.message})" if answer.message else ""
        asks = "takes nothing more now"
        if answer.seconds is not None:
            self.made.wait = min(answer.seconds, LONGEST_WAIT)
            self.state.wait(self.sender.clock.now_ns() / 1e9, self.made.wait)
            asks = f"asks to be left alone for {answer.seconds:.0f} s"
        self._problem(f"{self.sender.name} {asks}{said}; a later pass sends what is left")

    def _failed(self, answer: Failed) -> None:
        self._failures += 1
        self._problem(f"{self.sender.name} {answer.message}; a later pass sends what is left")
        if answer.scope == "receiver":
            raise _PassEnded
        if answer.scope == "signal" or self._failures == MOST_FAILURES:
            raise _SignalEnded

    def _taken(self, files: Sequence[Digested], answer: Taken, what: str) -> None:
        now = self.sender.clock.now_ns()
        self.state.take(files, now, answer.rejected, answer.message)
        counts = self.made.counts
        for file in files:
            counts.files += file.item.format == "sd"
            counts.rounds += file.item.format == "sf"
            counts.metrics += file.item.format == "metrics"
            counts.bytes += file.item.size
        counts.rejected += answer.rejected
        said = f": {answer.message}" if answer.message else ""
        if answer.rejected:
            paths = some(file.item.path for file in files)
            self.made.warnings.append(
                f"{self.sender.name} rejected {answer.rejected} {what} of {paths}{said}; they are not "
                "sent again"
            )
        elif said:
            self.made.notes.append(f"{self.sender.name} took {len(files)} and said{said}")
        self._finish([file.item for file in files])

    def _refused(self, file: Digested, answer: TooLarge) -> None:
        self.state.refuse(file, self.sender.clock.now_ns(), answer.message)
        said = f" ({answer.message})" if answer.message else ""
        self.made.counts.refused += 1
        self.made.problems.append(
            f"{file.item.path}: {file.item.size} bytes are too large for {self.sender.name}{said}; to "
            "send it again: asz push --retry-refused"
        )
        self._finish([file.item])

    def _finish(self, items: Sequence[Item]) -> None:
        """Count files that do not wait any more."""
        self._done += len(items)
        self._done_bytes += sum(item.size for item in items)
        self.display.update(self._done, self._done_bytes)

    def _problem(self, text: str) -> None:
        self.made.counts.errors += 1
        self.made.problems.append(text)
