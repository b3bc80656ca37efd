"""An adapter that raises in the hooks named by ``ASZ_TEST_FAULTY`` (a comma list), and works otherwise.

``asz_convert`` raises for a window that holds the record ``bad``; as ``asz_convert:always`` for every one.
"""

import os

from asz_hookspecs import (
    AdapterInfo,
    Converted,
    Discovery,
    Part,
    RawRecord,
    Record,
    Session,
    Source,
    Term,
    hookimpl,
)
from asz_hookspecs.vocabulary import GLOSSARY

ASZ_CONTRACT = 1
RECORDS = (b'"one"', b'"bad"', b'"three"')


def _maybe_raise(hook):
    if hook in os.environ.get("ASZ_TEST_FAULTY", "").split(","):
        raise ZeroDivisionError(f"{hook} raised\nover two lines")


@hookimpl
def asz_adapter():
    _maybe_raise("asz_adapter")
    return AdapterInfo(version="0.1", runtime="Faulty Agent", dialect="faulty/1")


@hookimpl
def asz_discover():
    _maybe_raise("asz_discover")
    source = Source(src="store/main", kind="transcript", shape="custom", stream="main")
    return Discovery((Session("faulty-session", (source,)),), roots=("/faulty",))


@hookimpl
def asz_land(position):
    for number, data in enumerate(RECORDS, 1):
        if number > int(position or b"0"):
            yield RawRecord(data, b"%d" % number)
    _maybe_raise("asz_land")


@hookimpl
def asz_convert(records):
    _maybe_raise("asz_convert:always")
    if b'"bad"' in records:
        _maybe_raise("asz_convert")
    return Converted(
        [Record(parts=[Part("data", data=bytes(raw), size=len(raw))]) for raw in records]
    )


@hookimpl
def asz_glossary():
    _maybe_raise("asz_glossary")
    return [Term(name, "", "") for name in GLOSSARY]
