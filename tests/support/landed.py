"""Landed files of a test's own making, without an adapter or a collector."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from asz.storage import index
from asz.storage.records import RecordWriter
from asz.storage.sd import FILE_KINDS, Header, encode_closing, encode_header
from asz_hookspecs.record import Record

STAMP = "20260901T091204.481523000Z"
AT = "2026-09-01T09:12:04.481523000Z"


class Landing:
    """Writes ``.sd`` files of one session into a root, one source record a landed record."""

    def __init__(self, root: Path, session: str = "s1") -> None:
        self.root, self.session = root, session
        self.directory = root / session
        self.directory.mkdir(parents=True, exist_ok=True)
        self.seq = 0
        self._ends: dict[tuple[str, str, int], tuple[int, int]] = {}

    def write(
        self,
        records: Iterable[Record],
        *,
        kind: str = "transcript",
        stream: str | None = None,
        batch: str | None = None,
        gen: int = 0,
        rewind: int | None = None,
    ) -> Path:
        """One landed file; main's transcript unless said otherwise.

        :param rewind: land from this ordinal again, as after a crash between file and cursor.
        """
        self.seq += 1
        if stream is None and batch is None:
            stream = "main"
        src = f"p/{stream or batch}.{kind}"
        ord_, off = self._ends.get((src, kind, gen), (0, 0))
        if rewind is not None:
            ord_, off = rewind - 1, self._offset(rewind)
        header: dict[str, Any] = {"h": 1, "schema": "sd/1", "seq": self.seq, "at": AT, "kind": kind}
        header |= {"adapter": "test/1", "dialect": "test/1", "runtime": "Test", "src": src}
        header |= {"session": self.session, "stream": stream, "batch": batch, "gen": gen or None}
        body, writer, count = encode_header(Header(**header)), RecordWriter(), 0
        document = kind in ("agent_meta", "workflow_manifest", "workflow_script")
        for record in records:
            ord_ += 1
            count += 1
            raw = self._raw(ord_)
            sha = hashlib.sha256(raw).hexdigest()
            body += writer.encode(record, ord_, 0 if document else off, raw, sha[:12])
            off += len(raw) + 1
        self._ends[src, kind, gen] = (ord_, off)
        place = f"streams/{stream}" if stream is not None else f"runs/{batch}"
        path = self.directory / place / f"{FILE_KINDS[kind]}-{STAMP}-{self.seq:06d}.sd"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body + encode_closing(count, hashlib.sha256(body).hexdigest()))
        return path

    def index(self) -> None:
        """Bring the index up to the files."""
        index.update(self.directory)

    @staticmethod
    def _raw(ord_: int) -> bytes:
        """The bytes of the source record with a number."""
        return b"line %d" % ord_

    def _offset(self, ord_: int) -> int:
        return sum(len(self._raw(number)) + 1 for number in range(1, ord_))
