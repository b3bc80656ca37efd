"""The part of Claude Code's own metrics that its transcripts carry: the tokens of provider calls.

Name, unit and attributes are those of the runtime's exporter, so that a receiver holds one metric
whichever produced the points. What a transcript does not say (cost, latency, account, terminal, speed,
effort) is left out, never estimated.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from asz_hookspecs import FinishedCall, MetricPoint

TOKENS: Final = "claude_code.token.usage"

_DESCRIPTION: Final = "Number of tokens used"
_UNIT: Final = "tokens"
_SOURCES: Final = {"main": "main", "child": "subagent", "auxiliary": "auxiliary"}
_TYPES: Final = ("input", "output", "cacheRead", "cacheCreation")
"""What the exporter calls the counts of ``Usage``, in their order."""


def derive(calls: Sequence[FinishedCall]) -> Iterator[MetricPoint]:
    """Four points for each call, also where a count is zero: the exporter writes those too."""
    for call in calls:
        common = {"session.id": call.session, "query_source": _SOURCES[call.role]}
        if call.model is not None:
            common["model"] = call.model
        for kind, count in zip(_TYPES, call.usage, strict=True):
            yield MetricPoint(
                name=TOKENS,
                description=_DESCRIPTION,
                unit=_UNIT,
                attributes={**common, "type": kind},
                value=float(count),
                time=call.time,
            )
