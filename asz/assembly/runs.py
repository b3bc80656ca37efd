"""The run of a record: its own, else that of the nearest containment parent that states one."""

from collections.abc import Mapping
from typing import Final

from asz.storage.rows import FLAG_BITS, RecordRow

MAX_STEPS: Final = 64
"""Longest walk. Measured walks need 7; a longer one leaves what belongs together."""

_INFERRED: Final = FLAG_BITS["inferred"]
_NOTHING: Final = (None, 0, False)


def opens_inferred(record: RecordRow) -> bool:
    """Whether the record opens a run that no runtime named: the run then bears the record's own id."""
    return bool(record.flags & _INFERRED) and record.run is not None and record.run == record.id


class RunWalk:
    """Finds runs. Walks cross streams and kinds; a parent that is a copy is its original."""

    def __init__(self, by_id: Mapping[str, RecordRow]) -> None:
        self._by_id = by_id
        self._known: dict[str, tuple[str | None, int, bool]] = {}

    def of(self, record: RecordRow) -> str | None:
        """The run a record belongs to, ``None`` when no walk finds one.

        The limit does not bind a walk that ends at an inferred run, because the versions that need
        inference hang a whole prompt's work in one line.
        """
        if record.run is not None:
            return record.run
        if record.parent is None:
            return None
        run, steps, inferred = self._resolve(record.parent)
        return run if inferred or steps < MAX_STEPS else None

    def _resolve(self, name: str) -> tuple[str | None, int, bool]:
        """Run found from the record ``name``, the steps to it, and whether it is inferred."""
        known = self._known
        path: list[str] = []
        found: tuple[str | None, int, bool] = _NOTHING
        at: str | None = name
        on_path: set[str] = set()
        while at is not None:
            if at in known:
                found = known[at]
                break
            record = self._by_id.get(at)
            if record is None or at in on_path:
                break
            path.append(at)
            if record.run is not None:
                found = (record.run, -1, opens_inferred(record))
                break
            on_path.add(at)
            at = record.parent
        run, steps, inferred = found
        for at in reversed(path):
            steps = steps + 1 if run is not None else 0
            known[at] = (run, steps, inferred)
        return known.get(name, _NOTHING)
