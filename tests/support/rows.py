"""Index rows of a test's own making: what assembly sees, without landed files."""

from collections.abc import Iterable
from typing import Any

from asz.storage.rows import FileRow, PartRow, RecordRow, SessionRows, UsageRow, flag_bits

SECOND = 1_000_000_000
START = 1_780_000_000 * SECOND


def text(block: int = 0) -> PartRow:
    """A text part."""
    return PartRow(block, "text", None, None, None)


def thinking(block: int = 0) -> PartRow:
    """A reasoning part."""
    return PartRow(block, "reasoning", None, None, None)


def call(id_: str | None, block: int = 0, name: str = "Bash") -> PartRow:
    """A tool request."""
    return PartRow(block, "call", id_, name, None)


def result(of: str | None, block: int = 0, failed: bool | None = None) -> PartRow:
    """A tool result."""
    return PartRow(block, "result", of, None, failed)


class Rows:
    """Adds records to the last file begun."""

    def __init__(self, session: str = "s1") -> None:
        self.session = session
        self.files: dict[int, FileRow] = {}
        self.records: list[RecordRow] = []
        self._ords: dict[tuple[str, str], int] = {}
        self._row = 0

    def file(
        self, stream: str | None = "main", *, kind: str = "transcript", batch: str | None = None
    ) -> "Rows":
        """Begin a landed file."""
        seq, self._row = len(self.files) + 1, 0
        if batch is not None:
            stream = None
        place = f"streams/{stream}" if stream else f"runs/{batch}"
        src, digest = f"p/{stream or batch}.{kind}", f"{seq:064x}"
        name = f"{place}/{kind}-{seq:06d}.sd"
        self.files[seq] = FileRow(seq, name, kind, src, 0, stream, batch, "Test", 0, digest)
        return self

    def add(
        self,
        id_: str | None = None,
        *,
        flags: Iterable[str] = (),
        at: float | None = None,
        parts: Iterable[PartRow] = (),
        ord: int | None = None,  # noqa: A002 - the format's word
        **fields: Any,
    ) -> RecordRow:
        """One record.

        :param at: its time in seconds after the session's start.
        """
        seq = len(self.files)
        source = (self.files[seq].src, self.files[seq].kind)
        number = ord if ord is not None else self._ords.get(source, 0) + 1
        self._ords[source] = max(number, self._ords.get(source, 0))
        self._row += 1
        values: dict[str, Any] = dict.fromkeys(RecordRow.__slots__)
        usage = fields.pop("usage", None)
        values |= {
            "seq": seq,
            "row": self._row,
            "ord": number,
            "off": number * 100,
            "sha": f"{number:012x}",
            "id": id_,
            "time": None if at is None else START + int(at * SECOND),
            "flags": flag_bits(flags),
            "usage": UsageRow(*usage) if usage else None,
            "parts": tuple(parts),
            **fields,
        }
        record = RecordRow(**values)
        self.records.append(record)
        return record

    def rows(self) -> SessionRows:
        """Everything so far."""
        return SessionRows(self.session, len(self.files), dict(self.files), list(self.records))

    # ---------------------------------------------------------------- what sessions are made of

    def prompt(self, id_: str, run: str | None = None, **fields: Any) -> RecordRow:
        """A person's input, opening the run ``run``."""
        fields = {"from_": "external", "trigger": "external", "run": run or f"run-{id_}"} | fields
        return self.add(id_, flags=("external_input",), parts=[text()], **fields)

    def response(
        self, id_: str, of: str, parts: Iterable[PartRow], *, finished: bool = True, **fields: Any
    ) -> RecordRow:
        """A fragment of the provider call ``of``."""
        flags = (*fields.pop("flags", ()), *(("finished",) if finished else ()))
        return self.add(id_, call=of, from_="agent", flags=flags, parts=parts, **fields)

    def answer(self, id_: str, tool: str, **fields: Any) -> RecordRow:
        """A record with one tool result."""
        return self.add(id_, from_="external", parts=[result(tool)], **fields)
