"""The names by which asz and an adapter find each other."""

from typing import Final

import pluggy

PROJECT: Final = "asz"
"""pluggy project name; every marker and the core's plugin manager carry it."""

ENTRY_POINT_GROUP: Final = "asz.adapters"
"""Entry point group an adapter registers in; the entry point's name is the adapter's name."""

CONTRACT: Final = 1
"""Version of this contract. An adapter module states the one it was built for as ``ASZ_CONTRACT``."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
