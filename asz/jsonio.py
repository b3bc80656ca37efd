"""The one place that encodes and decodes JSON.

orjson is the strict parser that decides what a landed file may hold, and writes what commands print
(``Fragment`` embeds landed bytes untouched). Nothing else in asz imports it or ``json``; the modules that
define a format read and write it as typed structs with msgspec.
"""

import json
from typing import Any

import orjson

Fragment = orjson.Fragment


def encode(value: Any) -> bytes:
    """Compact JSON of ``value``, keys in insertion order."""
    return orjson.dumps(value)


def encode_pretty(value: Any) -> str:
    """Indented JSON for a person."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def decode(data: bytes | str) -> Any:
    """Strictly decoded JSON.

    :raises ValueError: not JSON, not UTF-8, a lone surrogate, a number no float holds, or nested more
        than 1024 deep.
    """
    return orjson.loads(data)


def escaped(text: str) -> bytes:
    """``text`` as an ASCII JSON string; lone surrogates stay as the escapes they came from."""
    return json.dumps(text).encode("ascii")
