"""The entry point ``claude-code``: hook implementations that import what they need when called."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asz_claude_code import __version__
from asz_hookspecs import (
    AdapterInfo,
    Converted,
    Discovery,
    FinishedCall,
    Followed,
    MetricPoint,
    Source,
    Term,
    hookimpl,
)

if TYPE_CHECKING:
    from asz_claude_code.options import Options

ASZ_CONTRACT: Final = 1
RUNTIME: Final = "Claude Code"
DIALECT: Final = "claude-code/1"


@hookimpl
def asz_adapter() -> AdapterInfo:
    """Version, runtime and dialect; where the options model and the sample are."""
    return AdapterInfo(
        version=__version__,
        runtime=RUNTIME,
        dialect=DIALECT,
        meters="Claude Code tokens",
        service_name="claude-code",
        options="asz_claude_code.options:Options",
        sample=str(Path(__file__).parent / "sample" / "projects"),
    )


@hookimpl
def asz_discover(options: "Options", followed: Followed) -> Discovery:
    """Every session below the source roots that the filters admit."""
    from asz_claude_code.discover import discover

    return discover(options, followed)


@hookimpl
def asz_convert(source: Source, records: Sequence[bytes], carry: bytes) -> Converted:
    """One record for each line of a transcript or journal, or for each version of a document."""
    from asz_claude_code.convert import convert

    return convert(source, records, carry)


@hookimpl
def asz_derive_metrics(calls: Sequence[FinishedCall]) -> Iterable[MetricPoint]:
    """The tokens of each call, as the runtime's exporter counts them."""
    from asz_claude_code.metrics import derive

    return derive(calls)


@hookimpl
def asz_glossary() -> Sequence[Term]:
    """What Claude Code calls each name of the model."""
    from asz_claude_code.glossary import TERMS

    return TERMS
