"""What the storage root raises, in the words an adapter is told it in."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from asz.errors import AszError, BusyError
from asz_hookspecs import Busy, StorageFull


@contextmanager
def sink_errors() -> Iterator[None]:
    """Turn what writing raises into what a sink may raise.

    :raises Busy: another process holds the lock.
    :raises StorageFull: the disk takes no more, or the root cannot be written.
    """
    try:
        yield
    except BusyError as error:
        raise Busy(str(error)) from error
    except OSError as error:
        reason = f"{error.filename or 'storage root'}: cannot be written: {error.strerror or error}"
        raise StorageFull(reason) from error
    except (AszError, sqlite3.Error) as error:
        raise StorageFull(str(error)) from error
