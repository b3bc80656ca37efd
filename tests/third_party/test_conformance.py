"""What somebody who ships an adapter runs: their package installed beside asz, and one line of tests."""

from pathlib import Path

from asz.testing import conformance

SAMPLE = Path(__file__).parent.parent / "plugins" / "working" / "sample"

TestWorking = conformance("working", sample=SAMPLE)
