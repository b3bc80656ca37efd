"""The adapter ``claude-code-changes``: the workspace changes that asz's plugin for Claude Code observed."""

from typing import Final

__version__: Final = "0.1.0"
