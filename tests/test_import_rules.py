"""Who may import whom. The rules themselves are in pyproject.toml; this runs them, on the files."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RULES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
PLACES = {
    "asz": ROOT / "asz",
    "asz_hookspecs": ROOT / "hookspecs" / "asz_hookspecs",
    "asz_claude_code": ROOT / "adapters" / "claude_code" / "asz_claude_code",
    "asz_claude_code_changes": ROOT
    / "adapters"
    / "claude_code_changes"
    / "asz_claude_code_changes",
    "asz_claude_code_otlp": ROOT / "adapters" / "claude_code_otlp" / "asz_claude_code_otlp",
}
RUNTIME_WORDS = ("promptId", "parentUuid", "agentId", "toolUseResult", "sessionId", "claude")


def modules() -> Iterator[tuple[str, Path]]:
    """Every shipped module by its dotted name."""
    for package, place in PLACES.items():
        for path in sorted(place.rglob("*.py")):
            parts = path.relative_to(place).with_suffix("").parts
            yield ".".join((package, *(part for part in parts if part != "__init__"))), path


def imported(name: str, path: Path) -> set[str]:
    """Dotted names a module imports, wherever the statement stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


IMPORTS = {name: imported(name, path) for name, path in modules()}


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def forbidden_to(start: str, rule: dict[str, list[str]]) -> list[str]:
    """What a rule keeps a module from reaching."""
    if "modules" in rule:  # none of them may reach another
        others = [name for name in rule["modules"] if not within(start, name)]
        return others if len(others) < len(rule["modules"]) else []
    applies = any(within(start, source) for source in rule["source_modules"])
    return rule["forbidden_modules"] if applies else []


@pytest.mark.parametrize("rule", RULES["contracts"], ids=lambda rule: rule["name"])
def test_rule(rule: dict[str, list[str]]) -> None:
    """Follows imports through the project's own modules, as import-linter does."""
    broken = []
    for start in IMPORTS:
        forbidden = forbidden_to(start, rule)
        if not forbidden:
            continue
        seen, waiting = {start}, [start]
        while waiting:
            module = waiting.pop()
            for target in IMPORTS[module]:
                if any(within(target, banned) for banned in forbidden):
                    broken.append(f"{start} reaches {target} in {module}")
                if target in IMPORTS and target not in seen:
                    seen.add(target)
                    waiting.append(target)
    assert not broken


def test_every_package_is_in_the_rules() -> None:
    assert set(RULES["root_packages"]) == set(PLACES)
    assert len(IMPORTS) > 40


def test_the_contract_needs_pluggy_and_the_standard_library_only() -> None:
    outside = {
        target
        for name, targets in IMPORTS.items()
        if within(name, "asz_hookspecs")
        for target in targets
        if target.partition(".")[0] in {"pydantic", "msgspec", "orjson", "click", "yaml", "rich"}
    }
    assert not outside


@pytest.mark.parametrize("package", ["asz/assembly", "asz/flow", "asz/verify"])
def test_assembly_knows_no_runtime(package: str) -> None:
    place = ROOT / package
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    assert paths
    found = [
        f"{path}: {word}" for path in paths for word in RUNTIME_WORDS if word in path.read_text()
    ]
    assert not found


def test_one_module_encodes_and_decodes_json() -> None:
    users = {
        name
        for name, targets in IMPORTS.items()
        if within(name, "asz") and {"json", "orjson"} & {t.partition(".")[0] for t in targets}
    }
    assert users == {"asz.jsonio"}


def test_only_the_public_face_of_pluggy_is_used() -> None:
    private = [
        f"{name}: {target}"
        for name, targets in IMPORTS.items()
        for target in targets
        if within(target, "pluggy") and "._" in target
    ]
    assert not private
