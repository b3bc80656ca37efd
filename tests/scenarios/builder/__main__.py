"""Write the files of a scenario: ``python -m tests.scenarios.builder SCENARIO.yaml PROJECTS``."""

import sys
from pathlib import Path

from .tree import Scenario


def main(scenario: str, projects: str) -> None:
    """Write every checkpoint's files below ``projects``."""
    built = Scenario(Path(scenario))
    for checkpoint in built.checkpoints:
        built.write(Path(projects), checkpoint)


if __name__ == "__main__":
    main(*sys.argv[1:])
