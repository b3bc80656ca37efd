"""Real adapters, installed with pip, met through the real command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parent.parent / "plugins"

Install = Callable[[str], Path]


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Installs one of ``tests/plugins`` into a directory of its own, once, and gives that directory."""
    base = tmp_path_factory.mktemp("site")
    done: dict[str, Path] = {}

    def once(name: str) -> Path:
        if name not in done:
            target = base / name
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
            offline = ["--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir"]
            subprocess.run([*pip, *offline, str(PLUGINS / name)], check=True, capture_output=True)
            done[name] = target
        return done[name]

    return once


class Asz:
    """Runs ``asz`` as a person would, in an empty home, with chosen plugins installed."""

    def __init__(self, install: Install, home: Path) -> None:
        self.home = home
        self.root = home / "root"
        self._install = install

    def config(self, text: str) -> Path:
        """The asz.yaml that the commands are run with."""
        path = self.home / "asz.yaml"
        path.write_text(text)
        return path

    def __call__(
        self, *args: str, plugins: tuple[str, ...] = (), **env: str
    ) -> subprocess.CompletedProcess[str]:
        places = [str(self._install(name)) for name in plugins]
        inherited = os.environ.get("PYTHONPATH")
        config = self.home / "asz.yaml"
        return subprocess.run(
            [sys.executable, "-m", "asz", *args],
            cwd=self.home,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "ASZ_ROOT": str(self.root),
                "PYTHONPATH": os.pathsep.join([*places, *([inherited] if inherited else [])]),
                "PYTHONSAFEPATH": "1",
                **({"ASZ_CONFIG": str(config)} if config.exists() else {}),
                **env,
            },
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def asz(install: Install, tmp_path: Path) -> Asz:
    """The command, in an empty home."""
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    return Asz(install, tmp_path)
