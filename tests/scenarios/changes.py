"""What a root holds of changed files, in a scenario's own names."""

import json
from typing import Any

from asz.storage.sd import SdFile

from .builder import Scenario


def told_changes(scenario: Scenario, landed: list[SdFile]) -> list[dict[str, Any]]:
    """Every ``changes/1`` record in landed order: who tells it, of which tool, where it landed."""
    found = []
    for file in landed:
        for record in file.records():
            for part in record.parts:
                if part.k != "data" or b"changes/1" not in bytes(part.data):
                    continue
                told = json.loads(bytes(part.data))
                if told.get("schema") != "changes/1":  # the result that another record tells of
                    continue
                shown = {
                    "by": told["captured_by"],
                    "in": scenario.names.shown(file.header.stream or ""),
                    "changed": {one["path"]: one["operation"] for one in told["changes"]},
                }
                if "tool" in told:
                    shown["tool"] = scenario.names.shown(told["tool"])
                found.append(shown)
    return found
