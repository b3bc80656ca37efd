"""Metrics of an adapter that makes none."""

from typing import Any


def test_metrics_of_an_adapter_that_makes_none_are_refused(asz: Any) -> None:
    path = asz.config("adapters:\n  - name: working\n    metrics: true\n")
    done = asz("collect", "--once", plugins=("working",))
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"{path}:3: working.metrics: working makes no metrics" in line


def test_metrics_that_are_off_may_be_said_of_any_adapter(asz: Any) -> None:
    asz.config("adapters: [{name: working, metrics: false}]")
    assert asz("config", plugins=("working",)).returncode == 0
