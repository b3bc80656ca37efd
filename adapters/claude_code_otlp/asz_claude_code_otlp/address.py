"""Where the receiver listens, and which names a peer may call it by."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

_LISTEN: Final = re.compile(
    r"(?:\[(?P<six>[^\]]+)\]|(?P<host>[^:\[\]]+)):(?P<port>\d{1,5})", re.ASCII
)
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:\[\]@/\s]+))(?::\d{1,5})?", re.ASCII
)
LOCALHOST: Final = "localhost"


@dataclass(frozen=True, slots=True)
class Address:
    """``host:port`` as asz.yaml states it."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read ``127.0.0.1:4317``, ``[::1]:4317`` or ``localhost:4317``.

        :raises ValueError: it is none of these; the message says what was expected.
        """
        match = _LISTEN.fullmatch(text)
        if match is None or not 1 <= int(match["port"]) <= 65535:
            raise ValueError("expected an address and a port, such as 127.0.0.1:4317 or [::1]:4317")
        if match["six"] is not None and _ip(match["six"]) is None:
            raise ValueError("expected an IPv6 address in the brackets")
        return cls(match["six"] or match["host"], int(match["port"]))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it. A name other than ``localhost`` might lead anywhere."""
        address = _ip(self.host)
        return self.host.lower() == LOCALHOST if address is None else address.is_loopback

    @property
    def is_every(self) -> bool:
        """Whether it stands for every address of the machine."""
        address = _ip(self.host)
        return address is not None and address.is_unspecified

    def accepts(self, authority: str) -> bool:
        """Whether a peer may have meant this receiver: its ``Host`` or ``:authority`` names it.

        A page in a browser can make its own name lead here (DNS rebinding) and would then send that name.
        Listening on every address, any address is right, as no name can be rebound to one.
        """
        match = _AUTHORITY.fullmatch(authority)
        if match is None:
            return False
        name = (match["six"] or match["host"]).lower()
        address = _ip(name)
        if address is None:
            return name.removesuffix(".") in (LOCALHOST, self.host.lower())
        return address.is_loopback or self.is_every or address == _ip(self.host)


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
