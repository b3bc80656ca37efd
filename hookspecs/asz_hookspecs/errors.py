"""What an adapter may raise, by what the core then does, and what the core's sink may raise to it.

::

    AdapterError          the hook call failed; this adapter's share of the pass is lost
    ├── SourceError       one source cannot be read now; the others go on
    ├── Busy              raised by the sink: another process is in the way, try again soon
    └── StorageFull       raised by the sink: the disk takes no more, keep what you have

Anything else that leaves a hook is treated like ``AdapterError`` and reported as a defect of the
adapter. Messages are lower-case, name the file, and say what a person can do.
"""


class AdapterError(Exception):
    """Something the adapter understands is wrong: shown to the user as one line, no traceback."""


class SourceError(AdapterError):
    """One source cannot be read in this pass; it is counted as an error and tried again."""


class Busy(AdapterError):  # noqa: N818 - the word a protocol answers with
    """The sink cannot take this now: another process is in the way. The peer should try again soon."""


class StorageFull(AdapterError):  # noqa: N818 - likewise
    """The sink cannot take more: the disk is full or failing. The peer should keep what it has."""
