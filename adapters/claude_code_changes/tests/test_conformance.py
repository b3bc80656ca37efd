"""The suite every adapter is held to."""

from pathlib import Path

from asz.testing import conformance

TestConformance = conformance("claude-code-changes", sample=Path(__file__).parent / "sample")
