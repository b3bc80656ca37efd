"""What a runtime calls the things of the model."""

from typing import NamedTuple


class Term(NamedTuple):
    """One name of the model, in a runtime's own words."""

    name: str
    """A name from ``asz_hookspecs.vocabulary``."""
    native: str
    """The runtime's word; empty when it has none."""
    where: str
    """Where in its files it is found; empty when there is no native word."""
    note: str = ""
