"""``python -m asz``."""

import sys

from asz.cli import main

if __name__ == "__main__":
    sys.exit(main())
