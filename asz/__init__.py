"""asz keeps what AI coding agents did: landed write-once, assembled, verifiable."""

from typing import Final

__version__: Final = "0.2.0.dev0"
