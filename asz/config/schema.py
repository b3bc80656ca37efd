"""The keys of asz.yaml and their types. Imported only when there is a file to check.

A key that is absent stays unset here; its default is in ``asz.config.settings``.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, NonNegativeInt, PositiveInt

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


class OtlpSection(_Section):
    """``export.otlp:``."""

    protocol: Literal["grpc", "http"] = "grpc"
    endpoint: str = ""
    tls: bool = False
    ca_file: str = ""
    insecure: bool = False
    headers: dict[str, str] = {}
    timeout: Annotated[int, BeforeValidator(parse_duration)] = 0
    service_name: str = ""
    instance_id: str = ""
    layer: str = ""
    batch_bytes: PositiveInt = 1
    max_bytes_per_minute: NonNegativeInt = 0
    logs: bool = True
    metrics: bool = True


class ExportSection(_Section):
    """``export:``."""

    otlp: OtlpSection = OtlpSection()


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
    export: ExportSection = ExportSection()
