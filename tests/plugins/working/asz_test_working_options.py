"""What asz.yaml may say about the adapter ``working``."""

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Keys of its entry."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source_root: str = ""
    include: list[str] = []
