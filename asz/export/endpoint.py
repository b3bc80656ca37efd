"""Which receiver ``export.otlp`` names, and whether it may be talked to so."""

import ipaddress
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from asz.config.settings import Otlp
from asz.errors import ConfigError

EXPECTED: Final = "host:port, or an http:// or https:// address"
_PORTS: Final = {"http": 80, "https": 443}
_OWN_PORTS: Final = {"grpc": 4317, "http": 4318}
"""Where OTLP receivers listen when an address names neither a port nor a scheme."""

_HEADER_NAME: Final = re.compile(r"[a-z0-9_.-]+", re.ASCII)
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]*", re.ASCII)
_OWN_HEADERS: Final = frozenset(
    (
        "connection",
        "content-length",
        "content-type",
        "host",
        "te",
        "transfer-encoding",
        "user-agent",
    )
)


@dataclass(frozen=True, slots=True)
class Receiver:
    """An OTLP receiver, as it is talked to."""

    protocol: Literal["grpc", "http"]
    host: str
    """Name or address, without brackets."""
    port: int
    path: str
    """Before ``/v1/logs``; empty or with a leading and no trailing slash. Empty over gRPC."""
    tls: bool
    authorities: bytes | None
    """Certificates that are trusted, PEM; ``None``: those of the system."""
    timeout: float
    """Seconds a request may take."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""

    @property
    def authority(self) -> str:
        """Host and port as an address has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def name(self) -> str:
        """What sent-state is kept under and messages say. Neither protocol nor TLS is part of it: the
        receiver stays the same when they change."""
        return self.authority + self.path

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(self.host)


def receiver_of(otlp: Otlp, origin: Callable[[str], str]) -> Receiver:
    """The receiver that is configured.

    :param origin: where a dotted key was set, ``FILE:LINE`` or ``default``.
    :raises ConfigError: there is none, or it may not be talked to so.
    """

    def wrong(name: str, what: str) -> ConfigError:
        key = f"export.otlp.{name}"
        return ConfigError(f"{origin(key)}: {key}: {what}")

    address = _split(otlp, wrong)
    tls = otlp.tls or address.scheme == "https"
    if otlp.tls and address.scheme == "http":
        raise wrong("tls", "expected an https:// address or none, since tls is on")
    port = address.port or _PORTS.get(address.scheme, _OWN_PORTS[otlp.protocol])
    path = address.path.rstrip("/")
    if path and otlp.protocol == "grpc":
        raise wrong("endpoint", f"expected no path over gRPC, found {path!r}")
    host = address.hostname or ""
    if not (tls or otlp.insecure or is_loopback(host)):
        raise wrong(
            "endpoint",
            f"expected TLS for {host}, which is not this machine; set tls: true, or insecure: true to "
            "send conversations over the network unencrypted",
        )
    return Receiver(
        protocol=otlp.protocol,
        host=host,
        port=port,
        path=path,
        tls=tls,
        authorities=_authorities(otlp, wrong) if tls else None,
        timeout=otlp.timeout,
        headers=_headers(otlp, wrong),
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name alone; nothing is looked up."""
    if host.lower() in ("localhost", "localhost."):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_Wrong = Callable[[str, str], ConfigError]


def _split(otlp: Otlp, wrong: _Wrong) -> SplitResult:
    text = otlp.endpoint
    if not text:
        raise ConfigError(
            f"export.otlp.endpoint: no receiver is configured; set it in asz.yaml to {EXPECTED}"
        )
    try:
        address = urlsplit(text if "://" in text else f"//{text}")
        _ = address.port  # looked at only now
    except ValueError as error:
        raise wrong("endpoint", f"expected {EXPECTED}: {error}") from None
    if "@" in address.netloc:
        raise wrong("endpoint", "expected no user or password; put them into headers")
    fits = address.scheme in ("", *_PORTS) and address.hostname and address.port != 0
    if not fits or address.query or address.fragment or re.search(r"[\s\0]", text):
        raise wrong("endpoint", f"expected {EXPECTED}, found {text!r:.80}")
    return address


def _authorities(otlp: Otlp, wrong: _Wrong) -> bytes | None:
    if otlp.ca_file is None:
        return None
    try:
        pem = otlp.ca_file.read_bytes()
        ssl.create_default_context(cadata=pem.decode("ascii"))
    except OSError as error:  # what OpenSSL refuses is one as well
        reason = getattr(error, "reason", None) or error.strerror
        raise wrong("ca_file", f"{otlp.ca_file}: cannot be used: {reason}") from None
    except ValueError:
        raise wrong("ca_file", f"{otlp.ca_file}: expected certificates in PEM") from None
    return pem


def _headers(otlp: Otlp, wrong: _Wrong) -> dict[str, str]:
    """Headers both protocols can carry. A value is never part of a message."""
    found = {}
    for name, value in otlp.headers.items():
        lower = name.lower()
        if not _HEADER_NAME.fullmatch(lower) or lower.endswith("-bin"):
            raise wrong("headers", f"expected a header name, found {name!r:.80}")
        if lower in _OWN_HEADERS or lower.startswith("grpc-"):
            raise wrong("headers", f"{name}: set by asz itself")
        if lower in found:
            raise wrong("headers", f"{name}: the header is there twice")
        if not _HEADER_VALUE.fullmatch(value):
            raise wrong("headers", f"{name}: expected printable ASCII characters as its value")
        found[lower] = value
    return found
