"""The entry point ``claude-code-otlp``: hook implementations that import what they need when called."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from asz_claude_code_otlp import __version__
from asz_hookspecs import AdapterInfo, Sink, Term, hookimpl

if TYPE_CHECKING:
    from asz_claude_code_otlp.options import Options

ASZ_CONTRACT: Final = 1
RUNTIME: Final = "Claude Code"
METERS: Final = "Claude Code tokens"
"""What the adapter ``claude-code`` derives from transcripts is the same count."""


@hookimpl
def asz_adapter() -> AdapterInfo:
    """Version and runtime; it joins a runtime and lands nothing of its own."""
    return AdapterInfo(
        version=__version__,
        runtime=RUNTIME,
        dialect="claude-code-otlp/1",
        joins=RUNTIME,
        meters=METERS,
        metrics_default=True,
        service_name="claude-code",
        options="asz_claude_code_otlp.options:Options",
    )


@hookimpl
def asz_receive(options: "Options", sink: Sink) -> AbstractAsyncContextManager[None]:
    """OTLP over gRPC and HTTP on one port."""
    from asz_claude_code_otlp.receiver import receive

    return receive(options, sink)


@hookimpl
def asz_glossary() -> Sequence[Term]:
    """No words: nothing of what is received becomes structure."""
    from asz_hookspecs.vocabulary import GLOSSARY

    return [Term(name, "", "") for name in GLOSSARY]
