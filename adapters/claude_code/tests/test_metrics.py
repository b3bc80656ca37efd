"""The points of a call are those the runtime's exporter would have made of it."""

from typing import Any

import pytest

from asz_claude_code import plugin
from asz_hookspecs import FinishedCall, Usage

CALL: dict[str, Any] = {
    "session": "4be1a7c2-9d3f-4e58-8a06-1f5c7d2e9b34",
    "stream": "main",
    "role": "main",
    "call": "msg_1",
    "model": "claude-opus-5",
    "usage": Usage(3, 159, 12000, 0),
    "time": 1_780_000_000_000_000_000,
}


def test_a_call_is_four_points_also_where_nothing_was_used() -> None:
    points = list(plugin.asz_derive_metrics([FinishedCall(**CALL)]))
    assert [(point.attributes["type"], point.value) for point in points] == [
        ("input", 3.0),
        ("output", 159.0),
        ("cacheRead", 12000.0),
        ("cacheCreation", 0.0),
    ]
    assert {type(point.value) for point in points} == {float}
    assert {point.time for point in points} == {CALL["time"]}
    assert {(point.name, point.description, point.unit) for point in points} == {
        ("claude_code.token.usage", "Number of tokens used", "tokens")
    }


@pytest.mark.parametrize(
    ("role", "source"), [("main", "main"), ("child", "subagent"), ("auxiliary", "auxiliary")]
)
def test_attributes(role: str, source: str) -> None:
    point, *_ = plugin.asz_derive_metrics([FinishedCall(**{**CALL, "role": role})])
    assert point.attributes == {
        "session.id": CALL["session"],
        "model": "claude-opus-5",
        "query_source": source,
        "type": "input",
    }


def test_a_model_that_is_not_known_is_not_made_up() -> None:
    point, *_ = plugin.asz_derive_metrics([FinishedCall(**{**CALL, "model": None})])
    assert "model" not in point.attributes


def test_no_call_is_no_point() -> None:
    assert list(plugin.asz_derive_metrics([])) == []


def test_what_it_meters() -> None:
    info = plugin.asz_adapter()
    assert (info.meters, info.metrics_default) == ("Claude Code tokens", False)
    assert info.service_name == "claude-code"
