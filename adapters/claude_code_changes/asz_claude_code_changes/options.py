"""The adapter's block of asz.yaml."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

TEMPORARY: Final = "/private/tmp/**"
"""Where macOS keeps scratch directories; work done there is a test more often than not."""


class Options(BaseModel):
    """Where to read, and which workspaces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source_root: str | list[str] = Field(
        default="",
        description="a directory of Claude Code or of the plugin, or a list; empty: beside `projects`",
    )
    include: list[str] = Field(default=[], description="workspace filters; empty: all workspaces")
    exclude: list[str] = Field(
        default=[TEMPORARY], description="workspace filters; they win over `include`"
    )

    @property
    def source_roots(self) -> list[str]:
        """The configured roots, empty entries left out."""
        given = [self.source_root] if isinstance(self.source_root, str) else self.source_root
        return [root for root in given if root]
