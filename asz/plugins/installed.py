"""Which adapters are installed, from entry point metadata alone: nothing is imported."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from asz_hookspecs import ENTRY_POINT_GROUP

OWN_DISTRIBUTION: Final = "asz"


class Loadable(Protocol):
    """What an entry point can do."""

    def load(self) -> Any:
        """Import and give the plugin."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One entry point of the group ``asz.adapters``."""

    name: str
    """Entry point name, which is the adapter's name."""
    distribution: str
    version: str
    """Version of the distribution."""
    entry_point: Loadable
    refused: str = ""
    """Why it may not be loaded: its name is another distribution's as well."""


def installed_adapters() -> list[Installed]:
    """Every installed adapter: asz's own first, then by name and distribution.

    The order of metadata on disk is arbitrary; nothing may depend on it. One distribution that is seen
    twice (a stale folder of metadata) counts once.
    """
    from importlib_metadata import entry_points

    found: dict[tuple[str, str, str], Installed] = {}
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        distribution = entry_point.dist
        owner = distribution.name if distribution else "unknown distribution"
        version = distribution.version if distribution else ""
        item = Installed(entry_point.name, owner, version, entry_point)
        found.setdefault((item.name, owner, entry_point.value), item)
    return sorted(found.values(), key=_order)


def refuse_taken_names(items: list[Installed]) -> list[Installed]:
    """``items`` with those marked whose name several distributions claim.

    asz's own adapter keeps its name. Of two others neither is more right than the other, so both are
    refused until a person removes or blocks one.
    """
    claims: dict[str, list[Installed]] = defaultdict(list)
    for item in items:
        claims[item.name].append(item)
    return [
        replace(item, refused=_taken(claims[item.name]))
        if len(claims[item.name]) > 1 and item.distribution != OWN_DISTRIBUTION
        else item
        for item in items
    ]


def _taken(claims: list[Installed]) -> str:
    owners = " and ".join(f"{item.distribution} {item.version}" for item in claims)
    return f"several distributions have an adapter of this name: {owners}; remove or block one"


def _order(item: Installed) -> tuple[bool, str, str]:
    return (item.distribution != OWN_DISTRIBUTION, item.name, item.distribution)
