"""Records no runtime should write and some do."""

from collections.abc import Iterable, Iterator
from typing import Final

HOSTILE: Final = (
    b"",
    b" ",
    b"\x00" * 64,
    b"{",
    b"}",
    b"[]",
    b"null",
    b"7",
    b'"text"',
    b"not json",
    b'{"a":1}{"b":2}',
    b'{"a":1} trailing',
    b'{"text":"\\ud800"}',
    b'{"text":"\\udc00\\ud800"}',
    b'{"text":"\xff\xfe"}',
    b"\xef\xbb\xbf{}",
    b'{"number":1e999}',
    b'{"number":-' + b"9" * 400 + b"}",
    b'{"number":NaN,"other":Infinity}',
    b'{"a":1,"a":2}',
    b'{"":{"":[]}}',
    b"[" * 5000 + b"]" * 5000,
    b'{"a":' * 3000 + b"1" + b"}" * 3000,
    b'{"text":"' + b"x" * 300_000 + b'"}',
    b'{"text":"a\x00b"}',
    b'{"text":"a\rb"}',
    b'{"time":"\xe2\x80\xae\xe2\x81\xa6"}',
)
"""Raw records, without line ends."""

_WRONG: Final = (
    b"null",
    b"true",
    b"-1",
    b"[]",
    b"{}",
    b'""',
    b'"\\ud800"',
    b"[[1]]",
    b'{"x":[{}]}',
)


def twisted(records: Iterable[bytes]) -> Iterator[bytes]:
    """Real records, cut, doubled, broken, and with each of their top values replaced by a wrong type."""
    for record in records:
        yield record[: len(record) // 2]
        yield record[1:]
        yield record + record
        yield record.replace(b'"', b"'")
        yield record.replace(b":", b":\x00", 1)
        yield record.decode("utf-8", "replace").encode("utf-16-le")
        yield from _wrong_types(record)


def _wrong_types(record: bytes) -> Iterator[bytes]:
    from asz.jsonio import decode, encode

    try:
        value = decode(record)
    except ValueError:
        return
    if not isinstance(value, dict):
        return
    parts = {encode(key): encode(item) for key, item in value.items()}
    for key in parts:
        for wrong in _WRONG:
            yield (
                b"{"
                + b",".join(k + b":" + (wrong if k == key else v) for k, v in parts.items())
                + b"}"
            )
