"""Which file is read, and what environment and command line put over it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asz.config.document import Document, read_document
from asz.config.settings import (
    DEFAULT_ADAPTERS,
    AdapterEntry,
    Collector,
    Export,
    Otlp,
    Parse,
    Settings,
    canonical_name,
)
from asz.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from asz.config.schema import AdapterSection, OtlpSection

FILE_NAME: Final = "asz.yaml"
CONFIG_VARIABLE: Final = "ASZ_CONFIG"
ROOT_VARIABLE: Final = "ASZ_ROOT"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says; ``None`` where it says nothing."""

    config: str | None = None
    root: str | None = None


def load_settings(overrides: Overrides, environ: Mapping[str, str]) -> Settings:
    """The effective settings of a command.

    The file is ``--config``, else ``ASZ_CONFIG``, else ``asz.yaml`` in the user's configuration directory,
    else none. None is taken from the working directory: one that came with somebody's repository could name
    where all conversations are sent. The root is ``--root``, else ``ASZ_ROOT``, else ``storage.root``
    (relative to the file), else the user's data directory.

    Whether the adapters it lists are installed is checked by who loads them: a root must stay readable
    where they are not.

    :raises UsageError: an option is empty.
    :raises ConfigError: the file cannot be used; the message names file, line, key and what was expected.
    """
    file = _find(overrides, environ)
    settings = Settings(root=Path(), adapters=DEFAULT_ADAPTERS)
    if file is not None:
        settings = _from_document(read_document(file))
    return _with_root(settings, overrides, environ)


def _find(overrides: Overrides, environ: Mapping[str, str]) -> Path | None:
    if overrides.config is not None:
        return _stated(overrides.config, "--config")
    if environ.get(CONFIG_VARIABLE):
        return _stated(environ[CONFIG_VARIABLE], CONFIG_VARIABLE)
    own = _own_directory()
    return own / FILE_NAME if own is not None and os.path.lexists(own / FILE_NAME) else None


def _own_directory() -> Path | None:
    """The user's configuration directory for asz; ``None`` when there is none that does not depend on the
    working directory."""
    import platformdirs

    try:
        own = platformdirs.user_config_path("asz")
    except RuntimeError:  # no home directory: nothing can be in it
        return None
    return own if own.is_absolute() else None


def unread_file(settings: Settings) -> Path | None:
    """An ``asz.yaml`` in the working directory that is not read, for who expects it to be."""
    here = Path(FILE_NAME).absolute()
    if not os.path.lexists(here):
        return None
    if settings.file is not None and os.path.realpath(settings.file) == os.path.realpath(here):
        return None
    return here


def _stated(text: str, who: str) -> Path:
    if not text:
        raise UsageError(f"{who} is empty; give it a file")
    file = _absolute(text)
    if not file.exists():
        raise ConfigError(f"{file}: no such file, {who} names it")
    return file


def _with_root(settings: Settings, overrides: Overrides, environ: Mapping[str, str]) -> Settings:
    """``settings`` with the root that wins. An empty option is refused: it is most often an unset shell
    variable, and would otherwise collect into the working directory."""
    if overrides.root == "":
        raise UsageError("--root is empty; give it a directory")
    stated = overrides.root or environ.get(ROOT_VARIABLE)
    if stated:
        origin = "--root" if overrides.root else ROOT_VARIABLE
        return replace(
            settings,
            root=_absolute(stated),
            origins={**settings.origins, "storage.root": origin},
        )
    if settings.root != Path():
        return settings
    import platformdirs

    try:
        own = platformdirs.user_data_dir("asz")
    except RuntimeError:
        raise UsageError(
            f"no home directory is known; set HOME, or give --root or {ROOT_VARIABLE}"
        ) from None
    return replace(settings, root=_absolute(own))


def _absolute(text: str, start: Path | None = None) -> Path:
    """A path a person wrote. ``~`` of a user there is not stays as it is, to be named as missing.

    :raises UsageError: no file system has such a name.
    """
    if "\0" in text:
        raise UsageError(f"{text}: a path holds no NUL character")
    expanded = os.path.expanduser(text)  # noqa: PTH111 - pathlib's raises where there is no home
    return Path(os.path.abspath(start / expanded if start else expanded))


def _from_document(document: Document) -> Settings:
    from pydantic import ValidationError

    from asz.config.complaints import complaint, dotted
    from asz.config.schema import ConfigFile

    try:
        checked = ConfigFile.model_validate(document.values)
    except ValidationError as error:
        raise complaint(ConfigFile, error, document.file, document.lines) from None
    entries = [_entry(document, place, item) for place, item in enumerate(checked.adapters)]
    _check_labels(entries)
    listed = {entry.name for entry in entries}
    root = checked.storage.root
    return Settings(
        root=_absolute(root, document.file.parent) if root else Path(),
        collector=Collector(**checked.collector.model_dump(exclude_unset=True)),
        parse=Parse(**checked.parse.model_dump(exclude_unset=True)),
        export=Export(_otlp(document, checked.export.otlp)),
        adapters=(*entries, *(entry for entry in DEFAULT_ADAPTERS if entry.name not in listed)),
        file=document.file,
        origins={
            dotted(path): f"{document.file}:{line}"
            for path, line in document.lines.items()
            if len(path) > 1
            and path[0] != "adapters"
            and not (path == ("storage", "root") and not root)
        },
    )


def _otlp(document: Document, section: "OtlpSection") -> Otlp:
    stated = section.model_dump(exclude_unset=True)
    if "ca_file" in stated:
        file = stated["ca_file"]
        stated["ca_file"] = _absolute(file, document.file.parent) if file else None
    return Otlp(**stated)


def _entry(document: Document, place: int, section: "AdapterSection") -> AdapterEntry:
    above = ("adapters", place)
    return AdapterEntry(
        name=canonical_name(section.name),
        enabled=section.enabled,
        label=section.label,
        metrics=section.metrics,
        metrics_lookback=section.metrics_lookback,
        options=section.model_extra or {},
        file=document.file,
        lines={path[2:]: line for path, line in document.lines.items() if path[:2] == above},
    )


def _check_labels(entries: Sequence[AdapterEntry]) -> None:
    seen: dict[tuple[str, str], AdapterEntry] = {}
    for place, entry in enumerate(entries):
        first = seen.setdefault((entry.name, entry.label), entry)
        if first is not entry:
            raise ConfigError(
                f"{entry.origin('name')}: adapters[{place}].label: expected a label no other entry of "
                f"{entry.name} has (the one at {first.origin('name')} has the same)"
            )
