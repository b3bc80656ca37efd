"""Scenarios: YAML in the model's words, built into Claude Code's files. README.md has the language."""

from .lines import ScenarioError
from .names import Names
from .tree import Scenario

__all__ = ["Names", "Scenario", "ScenarioError"]
