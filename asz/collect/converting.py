"""Raw records to Session Data through an adapter, so that one bad record is one bad record."""

from collections.abc import Sequence
from dataclasses import dataclass

from asz.collect.work import AdapterCalls
from asz.errors import AszError
from asz_hookspecs import Record, Source, damaged


@dataclass(slots=True)
class Conversion:
    """A converted window."""

    records: list[Record]
    carry: bytes
    failure: str | None = None
    """The adapter's failure, when some record had to land as it is."""


def convert(
    adapter: AdapterCalls, source: Source, lines: Sequence[bytes], carry: bytes
) -> Conversion:
    """Convert a window; when that fails, its records one by one.

    A record that still fails becomes one ``unknown`` part with all its bytes, and leaves the carry as
    it was.
    """
    try:
        whole = adapter.convert(source, lines, carry)
        return Conversion(whole.records, whole.carry)
    except AszError as error:
        failure = str(error)
    records = []
    for line in lines:
        try:
            one = adapter.convert(source, [line], carry)
        except AszError as error:
            failure = str(error)
            records.append(damaged(line, failure))
        else:
            records += one.records
            carry = one.carry
    return Conversion(records, carry, failure)
