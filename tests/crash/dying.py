"""Runs ``asz`` and kills it, without warning, at a durable step.

    python dying.py STEP MOMENT NTH ARGUMENTS…

The process is killed the ``NTH`` time ``STEP`` is reached at ``MOMENT`` (``before`` or ``after``). The
same file also fails a step with an error of the operating system: ``MOMENT`` is then ``ENOSPC``, ``EIO``…
"""

import errno
import os
import signal
import sys

from asz.cli import main
from asz.storage import steps


def dying(name: str, moment: str, nth: int) -> None:
    """Install an observer that ends the process, or fails the step."""
    seen = 0

    def observe(step: steps.Step, at: steps.Moment) -> None:
        nonlocal seen
        if step != name or at != ("before" if moment.startswith("E") else moment):
            return
        seen += 1
        if seen < nth:
            return
        if moment.startswith("E"):
            code = getattr(errno, moment)
            raise OSError(code, os.strerror(code))
        os.kill(os.getpid(), signal.SIGKILL)

    steps.observer = observe


if __name__ == "__main__":
    dying(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.exit(main(sys.argv[4:]))
