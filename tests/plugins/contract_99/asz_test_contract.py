"""An adapter for a contract this asz does not have. Its hooks must never be called."""

from asz_hookspecs import hookimpl

ASZ_CONTRACT = 99


@hookimpl
def asz_adapter():
    raise AssertionError("called in spite of its contract")
