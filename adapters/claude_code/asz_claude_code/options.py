"""The adapter's block of asz.yaml."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

TEMPORARY: Final = "/private/tmp/**"
"""Where macOS keeps scratch directories; sessions started there are tests more often than work."""


class Options(BaseModel):
    """Where to read, and which sessions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source_root: str | list[str] = Field(
        default="",
        description="one `projects` directory or a list; empty: where Claude Code keeps it",
    )
    include: list[str] = Field(default=[], description="session filters; empty: all sessions")
    exclude: list[str] = Field(
        default=[TEMPORARY], description="session filters; they win over `include`"
    )

    @property
    def source_roots(self) -> list[str]:
        """The configured roots, empty entries left out."""
        given = [self.source_root] if isinstance(self.source_root, str) else self.source_root
        return [root for root in given if root]
