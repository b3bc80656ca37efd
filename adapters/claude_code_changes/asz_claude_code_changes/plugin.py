"""The entry point ``claude-code-changes``: hook implementations that import what they need when called."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from asz_claude_code_changes import __version__
from asz_hookspecs import AdapterInfo, Converted, Discovery, Followed, Term, hookimpl

if TYPE_CHECKING:
    from asz_claude_code_changes.options import Options

ASZ_CONTRACT: Final = 1


@hookimpl
def asz_adapter() -> AdapterInfo:
    """Version and dialect, and whose sessions its records join."""
    return AdapterInfo(
        version=__version__,
        runtime="asz plugin",
        dialect="asz-changes/1",
        joins="Claude Code",
        options="asz_claude_code_changes.options:Options",
    )


@hookimpl
def asz_discover(options: "Options", followed: Followed) -> Discovery:
    """Every file of changes that the plugin wrote and the filters admit."""
    from asz_claude_code_changes.discover import discover

    return discover(options, followed)


@hookimpl
def asz_convert(records: Sequence[bytes]) -> Converted:
    """One record for each line."""
    from asz_claude_code_changes.convert import convert_line

    return Converted([convert_line(raw) for raw in records])


@hookimpl
def asz_glossary() -> Sequence[Term]:
    """What a record of changes calls the few names of the model it has."""
    from asz_claude_code_changes.glossary import TERMS

    return TERMS
