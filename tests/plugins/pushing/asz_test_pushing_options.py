"""What asz.yaml may say about the adapter ``pushing``."""

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """Keys of its entry."""

    model_config = ConfigDict(extra="forbid", strict=True)

    port: int
