"""Which adapters a command may use. Travels to worker processes, which load the same again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from asz.config.settings import AdapterEntry, Settings, canonical_name

BLOCK_VARIABLE: Final = "ASZ_DISABLE_ADAPTERS"


@dataclass(frozen=True, slots=True)
class Selection:
    """What was said about adapters, by asz.yaml, the command line and the environment."""

    entries: tuple[AdapterEntry, ...] = ()
    """An installed adapter without one takes part as its ``AdapterInfo`` says."""
    only: frozenset[str] = frozenset()
    """``--adapter``: when not empty, no other adapter takes part. It is not even imported, unless one that does
    has metrics on, which no two may count."""
    blocked: frozenset[str] = frozenset()
    """``ASZ_DISABLE_ADAPTERS``: names of adapters or of distributions; wins over everything."""

    @classmethod
    def of(
        cls, settings: Settings, only: Iterable[str] = (), environ: Mapping[str, str] | None = None
    ) -> "Selection":
        """The selection of a command.

        :param only: names given with ``--adapter``.
        :param environ: the process environment; ``None`` blocks nothing.
        """
        blocked = (environ or {}).get(BLOCK_VARIABLE, "").split(",")
        return cls(
            entries=settings.adapters,
            only=frozenset(map(canonical_name, only)),
            blocked=frozenset(canonical_name(name.strip()) for name in blocked if name.strip()),
        )

    def entries_of(self, name: str) -> tuple[AdapterEntry, ...]:
        """The entries of one adapter: at least one."""
        return tuple(entry for entry in self.entries if entry.name == name) or (AdapterEntry(name),)
