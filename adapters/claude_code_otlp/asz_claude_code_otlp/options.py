"""The adapter's block of asz.yaml."""

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from asz_claude_code_otlp.address import Address


class Options(BaseModel):
    """Where to listen."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    allow_remote: bool = Field(
        default=False,
        description="whether to listen where other machines can reach it; nothing is encrypted there",
    )
    listen: str = Field(
        default="127.0.0.1:4317", description="address and port, for gRPC and for HTTP"
    )

    @property
    def address(self) -> Address:
        """``listen``, taken apart."""
        return Address.parse(self.listen)

    @field_validator("listen")
    @classmethod
    def _reachable(cls, listen: str, info: ValidationInfo) -> str:
        if not (Address.parse(listen).is_loopback or info.data.get("allow_remote", False)):
            raise ValueError(
                "expected a loopback address, or allow_remote: true for one other machines can reach"
            )
        return listen
