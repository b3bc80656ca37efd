"""Prove an adapter: the suite asz runs on its own adapters, for everybody's.

In the adapter's tests (``pip install 'asz[testing]'``)::

    from pathlib import Path
    from asz.testing import conformance

    TestConformance = conformance("my-agent", sample=Path(__file__).parent / "sample")

The sample is a directory of the runtime's files, as real as can be. The suite works on copies of it.
"""

import pytest

pytest.register_assert_rewrite("asz.testing.suite")

from asz.testing.subject import Subject, conformance  # noqa: E402 - after its asserts are rewritten

__all__ = ["Subject", "conformance"]
