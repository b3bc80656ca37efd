"""An adapter that takes part only when asz.yaml enables it."""

from asz_hookspecs import AdapterInfo, Converted, Discovery, Term, damaged, hookimpl
from asz_hookspecs.vocabulary import GLOSSARY

ASZ_CONTRACT = 1


@hookimpl
def asz_adapter():
    return AdapterInfo(
        version="0.1", runtime="Quiet Agent", dialect="quiet/1", default_enabled=False
    )


@hookimpl
def asz_discover():
    return Discovery((), roots=("/quiet",))


@hookimpl
def asz_convert(records):
    return Converted([damaged(raw, "not read") for raw in records])


@hookimpl
def asz_glossary():
    return [Term(name, "", "") for name in GLOSSARY]
