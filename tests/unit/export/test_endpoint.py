"""Which receiver a configuration names, and what is refused."""

from pathlib import Path

import pytest
import trustme

from asz.config import Otlp
from asz.errors import ConfigError
from asz.export.endpoint import Receiver, is_loopback, receiver_of


def receiver(**values: object) -> Receiver:
    return receiver_of(Otlp(**values), lambda key: f"asz.yaml of {key}")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("endpoint", "protocol", "authority", "path", "tls"),
    [
        ("localhost", "grpc", "localhost:4317", "", False),
        ("localhost", "http", "localhost:4318", "", False),
        ("127.0.0.1:5000", "grpc", "127.0.0.1:5000", "", False),
        ("[::1]:5000", "http", "[::1]:5000", "", False),
        ("http://localhost/", "http", "localhost:80", "", False),
        ("https://collector.example.org", "grpc", "collector.example.org:443", "", True),
        ("https://example.org:8443/otlp/x/", "http", "example.org:8443", "/otlp/x", True),
    ],
)
def test_addresses(endpoint: str, protocol: str, authority: str, path: str, tls: bool) -> None:
    found = receiver(endpoint=endpoint, protocol=protocol)
    assert (found.authority, found.path, found.tls) == (authority, path, tls)
    assert found.name == authority + path


@pytest.mark.parametrize(
    "endpoint",
    [
        ":4317",
        "localhost:0",
        "localhost:99999",
        "localhost:port",
        "ftp://localhost",
        "unix:///tmp/socket",
        "http://",
        "localhost:4317?x=1",
        "http://localhost/#top",
        "local host:4317",
        "[::1:4317",
        "::1",
        "host\nname",
    ],
)
def test_what_is_no_address(endpoint: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^asz.yaml of export.otlp.endpoint: export.otlp.endpoint"
    ):
        receiver(endpoint=endpoint, insecure=True)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match="put them into headers") as error:
        receiver(endpoint="https://sam:s3cret@example.org", protocol="http")
    assert "s3cret" not in str(error.value)


def test_a_path_means_nothing_over_grpc() -> None:
    with pytest.raises(ConfigError, match="expected no path over gRPC"):
        receiver(endpoint="http://localhost:4317/v1/logs")


@pytest.mark.parametrize(
    "host", ["example.org", "192.168.1.5", "[fe80::1]", "0.0.0.0", "localhost.evil"]
)
def test_without_tls_nothing_leaves_the_machine_unless_told(host: str) -> None:
    with pytest.raises(ConfigError, match="insecure: true"):
        receiver(endpoint=f"{host}:4317")
    assert not receiver(endpoint=f"{host}:4317", insecure=True).tls
    assert receiver(endpoint=f"{host}:4317", tls=True).tls


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


def test_tls_over_plain_http_is_a_contradiction() -> None:
    with pytest.raises(ConfigError, match=r"export.otlp.tls: expected an https"):
        receiver(endpoint="http://localhost:4318", protocol="http", tls=True)


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"bad name": "x"}, "expected a header name"),
        ({"": "x"}, "expected a header name"),
        ({"trace-bin": "x"}, "expected a header name"),
        ({"Content-Type": "x"}, "set by asz itself"),
        ({"grpc-timeout": "1S"}, "set by asz itself"),
        ({"A": "x", "a": "y"}, "there twice"),
        ({"authorization": "Bearer s3cret\r\nX: y"}, "printable ASCII"),
        ({"authorization": "s3crét"}, "printable ASCII"),
    ],
)
def test_headers_that_cannot_be_sent(headers: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as error:
        receiver(endpoint="localhost", headers=headers)
    assert "s3cr" not in str(error.value)


def test_authorities_are_read_with_tls_only(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    assert receiver(endpoint="localhost", ca_file=file).authorities is None
    with pytest.raises(ConfigError, match=r"export.otlp.ca_file: .*cannot be used: No such file"):
        receiver(endpoint="localhost", tls=True, ca_file=file)
    for junk in (
        b"junk",
        b"\xff\xfe",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ):
        file.write_bytes(junk)
        with pytest.raises(ConfigError, match=r"export\.otlp\.ca_file"):
            receiver(endpoint="localhost", tls=True, ca_file=file)
    trustme.CA().cert_pem.write_to_path(str(file))
    assert receiver(endpoint="localhost", tls=True, ca_file=file).authorities == file.read_bytes()
