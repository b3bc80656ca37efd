"""The command line: the only place that wires collecting, assembling and reading together."""

from asz.cli.app import main

__all__ = ["main"]
