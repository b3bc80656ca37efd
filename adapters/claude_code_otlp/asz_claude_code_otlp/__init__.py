"""The adapter ``claude-code-otlp``: receives what Claude Code's OpenTelemetry exporter sends."""

from typing import Final

__version__: Final = "0.1.0"
