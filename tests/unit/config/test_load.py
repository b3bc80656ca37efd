"""asz.yaml: which file, which values, where each came from, and what is wrong with it."""

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from asz.config import Overrides, Settings, load_settings, unread_file
from asz.errors import ConfigError, UsageError

Load = Callable[..., Settings]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with empty user directories."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg-config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg-data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def load(home: Path) -> Load:
    """Loads, with an optional text as the ``asz.yaml`` that is named."""

    def run(
        text: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        config: str | None = None,
        root: str | None = None,
    ) -> Settings:
        if text is not None:
            data = text if isinstance(text, bytes) else text.encode()
            (home / "asz.yaml").write_bytes(data)
            config = config or ("asz.yaml" if not env else None)
        return load_settings(Overrides(config, root), env or {})

    return run


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ---------------------------------------------------------------- which file


SHIPPED = {"claude-code": True, "claude-code-changes": True, "claude-code-otlp": False}


def enabled(settings: Settings) -> dict[str, bool | None]:
    return {entry.name: entry.enabled for entry in settings.adapters}


def test_without_a_file_everything_is_a_default(load: Load) -> None:
    settings = load()
    assert (settings.collector.mode, settings.collector.interval) == ("watch", 600)
    assert settings.collector.max_delta_bytes == settings.parse.max_round_bytes == 2097152
    assert enabled(settings) == SHIPPED
    assert settings.file is None
    assert settings.origin("collector.mode") == settings.origin("storage.root") == "default"


def test_the_file_is_the_first_of_option_environment_and_user(home: Path, load: Load) -> None:
    places = [
        write(home / "xdg-config" / "asz" / "asz.yaml", "parse: {max_round_bytes: 1}"),
        write(home / "env.yaml", "parse: {max_round_bytes: 2}"),
        write(home / "option.yaml", "parse: {max_round_bytes: 3}"),
    ]
    for number in (3, 2, 1):
        config = "option.yaml" if number == 3 else None
        env = {"ASZ_CONFIG": str(home / "env.yaml")} if number >= 2 else {}
        settings = load(env=env, config=config)
        assert settings.file == places[number - 1]
        assert settings.parse.max_round_bytes == number
        places[number - 1].unlink()


def test_nothing_is_read_from_the_working_directory(home: Path, load: Load) -> None:
    here = write(home / "asz.yaml", "export: {otlp: {endpoint: 'https://elsewhere.example'}}")
    settings = load()
    assert (settings.file, settings.export.otlp.endpoint) == (None, "")
    assert unread_file(settings) == here
    assert unread_file(load(config="asz.yaml")) is None
    here.unlink()
    assert unread_file(settings) is None


def test_the_users_directory_may_be_the_working_directory(
    home: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(home / "xdg-config" / "asz" / "asz.yaml", "parse: {max_round_bytes: 7}")
    monkeypatch.chdir(file.parent)
    settings = load()
    assert settings.parse.max_round_bytes == 7
    assert unread_file(settings) is None


def test_a_users_directory_that_is_relative_is_none(
    home: Path, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / "config" / "asz" / "asz.yaml", "parse: {max_round_bytes: 7}")
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    assert load().file is None


@pytest.mark.parametrize(
    ("env", "config", "who"),
    [({"ASZ_CONFIG": "gone.yaml"}, None, "ASZ_CONFIG"), ({}, "gone.yaml", "--config")],
)
def test_a_stated_file_must_exist(
    load: Load, home: Path, env: dict[str, str], config: str | None, who: str
) -> None:
    with pytest.raises(ConfigError, match=f"{home}/gone.yaml: no such file, {who} names it"):
        load("parse: {max_round_bytes: 2}", env=env, config=config)


def test_a_file_that_cannot_be_read_is_an_error_not_a_default(load: Load, home: Path) -> None:
    (home / "asz.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"asz\.yaml: cannot be read: Is a directory"):
        load(config="asz.yaml")


def test_a_dangling_link_is_an_error_not_a_default(load: Load, home: Path) -> None:
    own = home / "xdg-config" / "asz" / "asz.yaml"
    own.parent.mkdir(parents=True)
    own.symlink_to(home / "gone")
    with pytest.raises(ConfigError, match="cannot be read"):
        load()


# ---------------------------------------------------------------- the root


def test_the_root_is_the_first_of_option_environment_file_and_user(load: Load, home: Path) -> None:
    text = "storage: {root: from-file}"
    option = load(text, env={"ASZ_ROOT": "from-env"}, root="from-option")
    env = load(text, env={"ASZ_ROOT": "from-env"})
    file = load(text)
    default = load("storage: {root: ''}")
    assert (option.root, option.origin("storage.root")) == (home / "from-option", "--root")
    assert (env.root, env.origin("storage.root")) == (home / "from-env", "ASZ_ROOT")
    assert (file.root, file.origin("storage.root")) == (home / "from-file", f"{home}/asz.yaml:1")
    assert (default.root, default.origin("storage.root")) == (home / "xdg-data/asz", "default")


def test_a_root_in_the_file_is_relative_to_the_file(load: Load, home: Path) -> None:
    file = write(home / "elsewhere" / "c.yaml", "storage: {root: ../data}")
    assert load(config=str(file)).root == home / "data"


def test_a_root_in_the_home_directory(load: Load, home: Path) -> None:
    assert load("storage: {root: ~/kept}").root == home / "kept"
    assert load("{}", env={"ASZ_ROOT": "~/kept"}).root == home / "kept"


@pytest.mark.parametrize("overrides", [Overrides(root=""), Overrides(config="")])
def test_an_empty_option_is_refused(home: Path, overrides: Overrides) -> None:
    with pytest.raises(UsageError, match="is empty"):
        load_settings(overrides, {})


def test_an_empty_variable_counts_as_unset(load: Load, home: Path) -> None:
    settings = load(env={"ASZ_ROOT": "", "ASZ_CONFIG": ""})
    assert settings.root == home / "xdg-data/asz"


# ---------------------------------------------------------------- values


def test_each_value_knows_its_line(load: Load, home: Path) -> None:
    settings = load("collector:\n  # often\n  interval: 1m30s\n\nparse:\n  max_round_bytes: 5\n")
    assert settings.collector.interval == 90
    assert settings.origin("collector.interval") == f"{home}/asz.yaml:3"
    assert settings.origin("parse.max_round_bytes") == f"{home}/asz.yaml:6"
    assert settings.origin("collector.mode") == "default"


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "\ufeff{}"])
def test_an_empty_file_changes_nothing(load: Load, text: str) -> None:
    assert load(text).collector == load().collector


def test_listing_one_adapter_leaves_the_others_at_their_defaults(load: Load) -> None:
    settings = load("adapters: [{name: other, speed: 3}]")
    assert enabled(settings) == {"other": True, **SHIPPED}
    assert settings.adapters[0].options == {"speed": 3}


def test_an_older_name_of_an_adapter_is_accepted(load: Load) -> None:
    settings = load("adapters: [{name: claude-code-local, enabled: false}]")
    assert enabled(settings) == {**SHIPPED, "claude-code": False}


def test_an_entry_knows_the_line_of_each_of_its_keys(load: Load, home: Path) -> None:
    settings = load("adapters:\n- name: other\n  include:\n  - a\n  - b\n")
    entry = settings.adapters[0]
    assert entry.origin("include", 1) == f"{home}/asz.yaml:5"
    assert entry.origin("exclude") == "default"


def test_settings_travel_to_another_process(load: Load) -> None:
    settings = load("adapters: [{name: other, label: x, include: [a]}]")
    assert pickle.loads(pickle.dumps(settings)) == settings


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "colector: {}",
            ":1: colector: unknown key, expected one of: storage, adapters, collector,",
        ),
        (
            "collector:\n  intervall: 1m",
            ":2: collector.intervall: unknown key, expected one of: mode",
        ),
        ("collector:\n  interval: 600", ":2: collector.interval: expected a duration such as 90s"),
        ("collector:\n  interval: 0s", "longer than nothing, found '0s'"),
        ("collector: {mode: sometimes}", "expected 'watch' or 'once', found 'sometimes'"),
        (
            "collector:\n  max_delta_bytes: '2'",
            ":2: collector.max_delta_bytes: expected a valid int",
        ),
        ("collector:\n  max_delta_bytes: 0", "expected greater than 0, found 0"),
        ("parse: {max_round_bytes: true}", "expected a valid integer, found True"),
        ("parse:", ":1: parse: expected keys below it, found None"),
        ("storage: {root: 7}", ":1: storage.root: expected a valid string, found 7"),
        ("adapters: claude-code", ":1: adapters: expected a valid list, found 'claude-code'"),
        (
            "adapters:\n- {}\n- name: other",
            ":2: adapters[0].name: expected this key, found nothing",
        ),
        (
            "adapters:\n- name: other\n  enabled: 'no'",
            ":3: adapters[0].enabled: expected a valid bool",
        ),
        (
            "adapters:\n- name: other\n- name: other",
            ":3: adapters[1].label: expected a label no other",
        ),
        ("adapters: [{name: other, label: a}, {name: other, label: a}]", "label: expected a label"),
        ("adapters: [{name: claude-code}, {name: claude-code-local}]", "adapters[1].label"),
        ("parse: {}\nparse: {}", ":2: parse: the key is there twice"),
        ("parse:\n  max_round_bytes: 1\n  max_round_bytes: 1", ":3: max_round_bytes: the key is"),
        ("- a list", ":1: expected keys such as storage or adapters, found ['a list']"),
        ("just text", ":1: expected keys such as storage or adapters, found 'just text'"),
        ("a: [1,", ":1: not YAML: "),
        ("parse: {}\n\tmode: x", ":2: not YAML: "),
        ("a: 1\n---\nb: 2", "not YAML: "),
        ("x: !!python/object:os.system {}", "unknown key"),
        ("x: !thing y", ":1: not YAML: could not determine a constructor"),
        ("a: &a [*a]", ":1: an alias that holds itself"),
        ("[a]: 1", ":1: a key that is not a word"),
        ("a: 2001-99-99", "not YAML: month must be in 1..12"),
        (b"a: \xff", "not UTF-8"),
        (b"a: \x00", "not YAML"),
        ("[" * 5000, "not YAML"),
    ],
)
def test_what_is_wrong_is_said_with_file_line_key_and_what_was_expected(
    load: Load, home: Path, text: str | bytes, says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    message = str(caught.value)
    assert message.startswith(f"{home}/asz.yaml:")
    assert says in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_a_path_no_file_system_has(load: Load) -> None:
    with pytest.raises(UsageError, match="NUL"):
        load('storage: {root: "a\\0b"}')


def test_the_home_of_a_user_there_is_not_is_left_to_be_named(load: Load, home: Path) -> None:
    assert load(root="~nobody-of-that-name/x").root == home / "~nobody-of-that-name" / "x"
