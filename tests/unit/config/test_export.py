"""``export:`` in asz.yaml: its values, their origins, and secrets that stay where they are."""

import json
from pathlib import Path

import pytest

from asz.cli import main
from asz.config import Otlp, Overrides, Settings, load_settings
from asz.errors import ConfigError

WHOLE = """\
export:
  otlp:
    protocol: http
    endpoint: https://collector.example.org/otlp
    tls: true
    ca_file: certs/ca.pem
    headers: {authorization: Bearer s3cret}
    timeout: 1m30s
    service_name: agents
    instance_id: desk-7
    layer: GENERAL
    batch_bytes: 1000
    max_bytes_per_minute: 2000
    logs: false
    metrics: false
"""


def load(home: Path, text: str) -> Settings:
    file = home / "asz.yaml"
    file.write_text(text)
    return load_settings(Overrides(str(file), str(home / "root")), {})


def test_without_the_section_nothing_is_exported(tmp_path: Path) -> None:
    otlp = load(tmp_path, "{}").export.otlp
    assert otlp == Otlp()
    assert (otlp.endpoint, otlp.protocol, otlp.layer) == ("", "grpc", "AI_AGENT")
    assert (otlp.batch_bytes, otlp.max_bytes_per_minute) == (3145728, 0)
    assert (otlp.tls, otlp.insecure, otlp.logs, otlp.metrics) == (False, False, True, True)


def test_every_key_is_read_and_its_place_known(tmp_path: Path) -> None:
    settings = load(tmp_path, WHOLE)
    assert settings.export.otlp == Otlp(
        protocol="http",
        endpoint="https://collector.example.org/otlp",
        tls=True,
        ca_file=tmp_path / "certs/ca.pem",
        headers={"authorization": "Bearer s3cret"},
        timeout=90,
        service_name="agents",
        instance_id="desk-7",
        layer="GENERAL",
        batch_bytes=1000,
        max_bytes_per_minute=2000,
        logs=False,
        metrics=False,
    )
    assert settings.origin("export.otlp.endpoint") == f"{tmp_path / 'asz.yaml'}:4"
    assert settings.origin("export.otlp.insecure") == "default"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("protocol: thrift", "expected 'grpc' or 'http'"),
        ("endpoint: 4317", "expected"),
        ("batch_bytes: 0", "expected greater than 0"),
        ("max_bytes_per_minute: -1", "expected greater than or equal to 0"),
        ("timeout: 30", "expected a duration"),
        ("tls: 'yes'", "expected"),
        ("token: x", "unknown key, expected one of: protocol, endpoint"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: str, expected: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, f"export:\n  otlp:\n    {line}\n")
    key = line.partition(":")[0]
    assert str(error.value).startswith(f"{tmp_path / 'asz.yaml'}:3: export.otlp.{key}: ")
    assert expected in str(error.value)


def test_the_command_shows_every_key_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load(tmp_path, WHOLE)
    args = ["--config", str(tmp_path / "asz.yaml"), "--root", str(tmp_path / "root")]
    assert main(["config", "--json", *args]) == 0
    out = capsys.readouterr().out
    shown = {item["key"]: item for item in json.loads(out)["settings"]}
    assert "s3cret" not in out
    assert shown["export.otlp.headers"]["value"] == {"authorization": "(set)"}
    assert shown["export.otlp.timeout"]["value"] == "1m30s"
    assert shown["export.otlp.ca_file"]["value"] == str(tmp_path / "certs/ca.pem")
    assert {f"export.otlp.{name}" for name in Otlp.__slots__} <= set(shown)


@pytest.mark.parametrize(
    "command", [["push", "--once"], ["push", "--prune"], ["collect", "--once"]]
)
def test_a_receiver_that_may_not_be_talked_to_stops_the_command(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    load(tmp_path, "export:\n  otlp:\n    endpoint: example.org:4317\n")
    (tmp_path / "root").mkdir()
    args = ["--config", str(tmp_path / "asz.yaml"), "--root", str(tmp_path / "root")]
    assert main([*command, *args]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"asz: error: {tmp_path / 'asz.yaml'}:3: export.otlp.endpoint: expected TLS"
    )
    assert list((tmp_path / "root").iterdir()) == []


def test_pushing_to_nowhere_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load(tmp_path, "{}")
    (tmp_path / "root").mkdir()
    args = ["--config", str(tmp_path / "asz.yaml"), "--root", str(tmp_path / "root")]
    assert main(["push", *args]) == 2
    assert (
        "export.otlp.endpoint: no receiver is configured; set it in asz.yaml"
        in capsys.readouterr().err
    )


def test_pushing_without_a_root_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(tmp_path, "export: {otlp: {endpoint: 'localhost:4317'}}")
    args = ["--config", str(tmp_path / "asz.yaml"), "--root", str(tmp_path / "root")]
    assert main(["push", "--once", *args]) == 1
    assert "no storage root here yet" in capsys.readouterr().err
