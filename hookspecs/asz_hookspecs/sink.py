"""Where a push adapter puts what it receives."""

from collections.abc import Sequence
from typing import Protocol

from asz_hookspecs.source import SourceKind


class Sink(Protocol):
    """Given to ``asz_receive``. A call returns once what it was given is durable, so that the adapter
    answers its peer only then.

    Both methods raise ``Busy`` when another process is in the way and ``StorageFull`` when the disk takes
    no more; the adapter turns either into its protocol's retry answer. Any other ``AdapterError`` stands
    for what trying again would not help.
    """

    async def metrics(self, body: bytes) -> None:
        """Keep one ``ExportMetricsServiceRequest``, byte for byte as it was received. It is taken and
        dropped when the entry's metrics are off."""

    async def records(
        self, session: str, stream: str, kind: SourceKind, src: str, lines: Sequence[bytes]
    ) -> None:
        """Land raw records of a session, through the adapter's own ``asz_convert``.

        :param kind: one that belongs to a stream: ``transcript``, ``agent_meta`` or ``changes``.
        :param src: name of the source they come from; its records are numbered and follow each other, so
            await one push of a source before the next. What is pushed again because an answer was lost
            must be the same records in the same order.
        """
