"""What asz.yaml may say, and what the core is told."""

import subprocess
import sys

import pluggy
import pytest
from pydantic import ValidationError

from asz_claude_code_otlp import plugin
from asz_claude_code_otlp.address import Address
from asz_claude_code_otlp.options import Options
from asz_hookspecs import CONTRACT, PROJECT, specs
from asz_hookspecs.vocabulary import GLOSSARY


def test_the_hooks_answer() -> None:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    manager.register(plugin, "claude-code-otlp")
    manager.check_pending()
    (info,) = manager.hook.asz_adapter()
    assert (info.runtime, info.joins, info.service_name) == (
        "Claude Code",
        "Claude Code",
        "claude-code",
    )
    assert info.meters
    assert info.metrics_default
    (terms,) = manager.hook.asz_glossary()
    assert [term.name for term in terms] == list(GLOSSARY)
    assert plugin.ASZ_CONTRACT == CONTRACT


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys, asz_claude_code_otlp.plugin as p; p.asz_adapter();"
        "print(sorted({'pydantic', 'grpc', 'uvicorn', 'asyncio', 'google.protobuf', 'hpack'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_defaults() -> None:
    options = Options()
    assert options.model_dump() == {"allow_remote": False, "listen": "127.0.0.1:4317"}
    assert options.address == Address("127.0.0.1", 4317)


@pytest.mark.parametrize("listen", ["127.0.0.2:1", "localhost:65535", "LOCALHOST:80", "[::1]:4317"])
def test_loopback_addresses_need_no_permission(listen: str) -> None:
    assert Options(listen=listen).address.is_loopback


@pytest.mark.parametrize(
    "listen", ["0.0.0.0:4317", "[::]:4317", "192.0.2.1:4317", "here.example:1"]
)
def test_others_need_it(listen: str) -> None:
    with pytest.raises(ValidationError, match="allow_remote: true"):
        Options(listen=listen)
    assert not Options(listen=listen, allow_remote=True).address.is_loopback


@pytest.mark.parametrize(
    "listen",
    [
        "",
        "4317",
        ":4317",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "::1:4317",
        "[127]:1",
        "[x]:1",
        "http://127.0.0.1:4317",
        "127.0.0.1:4317/",
        "127.0.0.1:٤٣١٧",
    ],
)
def test_what_is_no_address_is_refused(listen: str) -> None:
    with pytest.raises(ValidationError, match="expected an "):
        Options(listen=listen)


@pytest.mark.parametrize("given", [{"port": 1}, {"listen": 4317}, {"allow_remote": "yes"}])
def test_other_keys_and_types_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Options.model_validate(given)


@pytest.mark.parametrize(
    ("listen", "authority", "expected"),
    [
        ("127.0.0.1:4317", "localhost", True),
        ("127.0.0.1:4317", "localhost.:4317", True),
        ("127.0.0.1:4317", "127.0.0.1:9", True),
        ("127.0.0.1:4317", "[::1]", True),
        ("127.0.0.1:4317", "192.0.2.1", False),
        ("127.0.0.1:4317", "", False),
        ("127.0.0.1:4317", "localhost:", False),
        ("127.0.0.1:4317", "localhost@evil.example", False),
        ("127.0.0.1:4317", "localhost.evil.example", False),
        ("192.0.2.1:4317", "192.0.2.1:4317", True),
        ("192.0.2.1:4317", "192.0.2.2:4317", False),
        ("here.example:4317", "HERE.example:4317", True),
        ("here.example:4317", "there.example", False),
        ("0.0.0.0:4317", "192.0.2.2:4317", True),
        ("0.0.0.0:4317", "here.example", False),
        ("[::]:4317", "[2001:db8::1]:4317", True),
    ],
)
def test_who_may_be_meant(listen: str, authority: str, expected: bool) -> None:
    assert Address.parse(listen).accepts(authority) is expected
