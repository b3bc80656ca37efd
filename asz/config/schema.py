"""The keys of asz.yaml and their types. Imported only when there is a file to check.

A key that is absent stays unset here; its default is in ``asz.config.settings``.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PositiveInt

from asz.config.durations import parse_duration


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StorageSection(_Section):
    """``storage:``."""

    root: str = ""


class CollectorSection(_Section):
    """``collector:``."""

    mode: Literal["watch", "once"] = "watch"
    interval: Annotated[int, BeforeValidator(parse_duration)] = 0
    max_delta_bytes: PositiveInt = 1


class ParseSection(_Section):
    """``parse:``."""

    max_round_bytes: PositiveInt = 1


class AdapterSection(BaseModel):
    """One item of ``adapters:``; further keys are the adapter's own and checked by its model."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str
    enabled: bool = True
    label: str = ""
    metrics: bool | None = None
    metrics_lookback: Annotated[int, BeforeValidator(parse_duration)] = 86_400


class ConfigFile(_Section):
    """The whole file."""

    storage: StorageSection = StorageSection()
    adapters: list[AdapterSection] = []
    collector: CollectorSection = CollectorSection()
    parse: ParseSection = ParseSection()
