"""Every error of asz that ends in a message for a person, by what happens next.

::

    AszError                    one line on standard error, exit 1
    ├── UsageError              exit 2: the command line or the configuration is wrong
    │   └── ConfigError         names the file, the key, the line and what was expected
    ├── RootError               the storage root cannot be used at all
    │   └── NewerError          a newer asz wrote it, or a database in it
    ├── FormatError             a landed file or a round is not what its format says
    ├── BusyError               another process holds the lock; a later pass takes it
    ├── ChainError              the chain of rounds cannot be read or extended
    ├── NotFoundError           no session or record has that id, or several have
    └── AdapterFailure          an adapter raised, or returned what it must not; the others go on

Messages are lower-case, name the thing, and say the way out.
"""


class AszError(Exception):
    """Base of every error whose message is enough for a person."""

    exit_code = 1


class UsageError(AszError):
    """The command line or the configuration is wrong; nothing was done."""

    exit_code = 2


class ConfigError(UsageError):
    """asz.yaml, or an environment variable that stands for it, is wrong."""


class RootError(AszError):
    """The storage root is not one, is newer, is read-only, or lies where it must not."""


class NewerError(RootError):
    """A newer asz wrote it; nothing was changed, and upgrading asz reads it."""


class FormatError(AszError):
    """A file is not what its format says. The message names the file."""


class BusyError(AszError):
    """Another process holds the lock."""


class ChainError(AszError):
    """A chain does not verify, or was written by another parser, or is ahead of the index."""


class NotFoundError(AszError):
    """An id names nothing, or a prefix names several things."""


class AdapterFailure(AszError):  # noqa: N818 - a failure is reported and counted, seldom raised to the end
    """Something an adapter did or failed to do; it costs that adapter only.

    All of it is plain text, so that it survives the way back from a worker process.
    """

    def __init__(
        self,
        adapter: str,
        distribution: str,
        version: str,
        hook: str,
        reason: str,
        source_only: bool = False,
        details: str = "",
    ) -> None:
        super().__init__(adapter, distribution, version, hook, reason, source_only, details)
        self.adapter = adapter
        self.distribution = distribution
        self.version = version
        self.hook = hook
        self.reason = reason
        self.source_only = source_only
        """Whether one source could not be read and the adapter is fine otherwise."""
        self.details = details
        """The traceback, shown with ``--verbose``."""

    def __str__(self) -> str:
        return f"adapter {self.adapter} ({self.distribution} {self.version}) {self.hook}: {self.reason}"
