"""The suite every adapter is held to, on the invented history that ships with this one."""

from pathlib import Path

import asz_claude_code
from asz.testing import conformance

SAMPLE = Path(asz_claude_code.__file__).parent / "sample" / "projects"

TestConformance = conformance("claude-code", sample=SAMPLE)
