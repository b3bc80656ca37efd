"""What a receiver was not sent yet, by names and sizes alone: a file that looks as it did is not read."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from asz.config.settings import Otlp
from asz.export.inventory import Item, files, spooled
from asz.export.state import Sent, SentState
from asz.storage.root import Root


@dataclass(slots=True)
class Todo:
    """Files in the order in which they are sent."""

    logs: list[Item] = field(default_factory=list)
    metrics: list[Item] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Paths the receiver refused before; they are not sent."""
    retry_refused: bool = False
    """Whether what was refused before is sent again."""
    known: dict[str, list[Sent]] = field(default_factory=dict)
    """What became of files that look different now; their digest decides whether they are sent."""

    @property
    def count(self) -> int:
        """How many files."""
        return len(self.logs) + len(self.metrics)

    @property
    def size(self) -> int:
        """How many bytes."""
        return sum(item.size for item in (*self.logs, *self.metrics))


def look(root: Root, otlp: Otlp, state: SentState, *, retry_refused: bool) -> Todo:
    """Compare what there is with what was sent.

    :param retry_refused: count what was refused as not sent.
    """
    todo = Todo(retry_refused=retry_refused)
    known = state.known()

    def waiting(items: Iterable[Item]) -> list[Item]:
        return [item for item in items if _waits(item, known.get(item.path), todo)]

    todo.logs = waiting(files(root)) if otlp.logs else []
    todo.metrics = waiting(spooled(root)) if otlp.metrics else []
    return todo


def _waits(item: Item, before: list[Sent] | None, todo: Todo) -> bool:
    if before is None:
        return True
    outcomes = [sent.outcome for sent in before if sent.is_of(item)]
    if "sent" in outcomes:
        return False
    if outcomes and not todo.retry_refused:
        todo.refused.append(item.path)
        return False
    todo.known[item.path] = before
    return True
