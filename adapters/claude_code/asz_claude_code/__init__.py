"""The adapter for Claude Code: finds its transcripts and turns their lines into Session Data."""

from typing import Final

__version__: Final = "0.1.0"
