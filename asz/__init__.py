"""asz keeps what AI coding agents did: landed write-once, assembled, verifiable."""

from typing import Final

__version__: Final = "0.1.0"
