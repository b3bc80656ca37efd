"""What an adapter may raise, by what the core then does.

::

    AdapterError          the hook call failed; this adapter's share of the pass is lost
    └── SourceError       one source cannot be read now; the others go on

Anything else that leaves a hook is treated like ``AdapterError`` and reported as a defect of the
adapter. Messages are lower-case, name the file, and say what a person can do.
"""


class AdapterError(Exception):
    """Something the adapter understands is wrong: shown to the user as one line, no traceback."""


class SourceError(AdapterError):
    """One source cannot be read in this pass; it is counted as an error and tried again."""
