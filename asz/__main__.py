"""``python -m asz``."""

import sys
from pathlib import Path

import asz

# The interpreter puts the working directory first. Adapters are found on the path, and nothing of a directory
# somebody happens to be in may become one; an asz that itself lies there stays importable.
if (
    not sys.flags.safe_path
    and Path(sys.path[0]).resolve() != Path(asz.__file__).resolve().parents[1]
):
    del sys.path[0]

from asz.cli import main

if __name__ == "__main__":
    sys.exit(main())
