"""Turns whatever an adapter raises into one error with its name on it."""

import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from asz.errors import AdapterFailure
from asz_hookspecs import AdapterError, SourceError

T = TypeVar("T")


class RefusedError(AdapterError):
    """The core refuses what an adapter is or gives, in words meant for a person."""


_LONGEST_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Guard:
    """Runs code of one adapter."""

    adapter: str
    distribution: str
    version: str

    def run(self, hook: str, call: Callable[[], T]) -> T:
        """What ``call`` returns.

        Everything is caught but an interrupt: an adapter that calls ``exit()`` costs only itself too.

        :raises AdapterFailure: stamped with adapter, distribution, version and ``hook``.
        """
        try:
            return call()
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            raise self.failure(hook, error) from error

    @asynccontextmanager
    async def entered(
        self, hook: str, manager: AbstractAsyncContextManager[None]
    ) -> AsyncIterator[None]:
        """``manager``, entered and left in the guard; what the block itself raises passes.

        :raises AdapterFailure: as in ``run``. Being cancelled is no failure of the adapter's.
        """
        await self._awaited(hook, manager.__aenter__)
        try:
            yield
        finally:
            await self._awaited(hook, lambda: manager.__aexit__(None, None, None))

    async def _awaited(self, hook: str, call: Callable[[], Awaitable[object]]) -> None:
        from asyncio import CancelledError  # loaded already by whoever runs this

        try:
            await call()
        except (KeyboardInterrupt, GeneratorExit, CancelledError):
            raise
        except BaseException as error:
            raise self.failure(hook, error) from error

    def failure(self, hook: str, error: BaseException) -> AdapterFailure:
        """The failure ``error`` stands for."""
        return AdapterFailure(
            self.adapter,
            self.distribution,
            self.version,
            hook,
            one_line(error),
            source_only=isinstance(error, SourceError),
            details="".join(traceback.format_exception(error)),
        )


def one_line(error: BaseException) -> str:
    """The error on one line; with its type unless the adapter meant the message for a person."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # an exception that cannot even be shown
        text = ""
    if not isinstance(error, AdapterError) or not text:
        name = type(error).__name__
        text = f"{name}: {text}" if text else name
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
