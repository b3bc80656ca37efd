"""Every call that makes something durable happens inside a named step, so that the crash tests miss none."""

import ast
from importlib import import_module
from pathlib import Path

import asz
from asz.storage.steps import Step

PACKAGE = Path(asz.__file__).parent

DURABLE = {"fsync", "link", "rename", "replace", "renames", "unlink", "rmtree", "fdatasync"}
"""Calls that change what survives a crash. ``COMMIT`` is looked for in the text of ``execute``."""

ALLOWED = {
    ("files.py", "unlink"),  # temporary names, which no reader looks at
    ("files.py", "link"),  # inside install, whose caller's step is open
    ("files.py", "rename"),  # likewise, where there are no links
    ("files.py", "fsync"),  # sync, called inside steps only: see below
    ("lander.py", "unlink"),  # abandon: temporary names
    ("spool.py", "unlink"),  # temporary names
    ("database.py", "unlink"),  # discard: derived data; the temporary name of a backup
    ("database.py", "replace"),  # put_aside: what is damaged already; the backup is inside its step
}


def calls(path: Path) -> list[tuple[ast.Call, list[ast.AST]]]:
    """Every call of a module, with the nodes around it."""
    found = []

    def walk(node: ast.AST, around: list[ast.AST]) -> None:
        if isinstance(node, ast.Call):
            found.append((node, around))
        for child in ast.iter_child_nodes(node):
            walk(child, [*around, node])

    walk(ast.parse(path.read_text()), [])
    return found


def name_of(call: ast.Call) -> str:
    target = call.func
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def inside_step(around: list[ast.AST]) -> bool:
    return any(
        isinstance(item.context_expr, ast.Call) and name_of(item.context_expr) == "step"
        for node in around
        if isinstance(node, ast.With)
        for item in node.items
    )


def durable(call: ast.Call) -> bool:
    name = name_of(call)
    if name == "replace":  # Path.replace takes one argument, str.replace two
        return len(call.args) == 1 and not call.keywords
    if name == "execute":
        first = call.args[0] if call.args else None
        return isinstance(first, ast.Constant) and "COMMIT" in str(first.value)
    return name in DURABLE or name == "sync"


def test_no_durable_call_happens_outside_of_a_step() -> None:
    outside = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}: {name_of(call)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for call, around in calls(path)
        if durable(call) and not inside_step(around) and (path.name, name_of(call)) not in ALLOWED
    ]
    assert outside == []


def test_every_step_is_used_and_killed_at() -> None:
    killed_at = {
        step
        for path in Path(__file__).parent.glob("test_*.py")
        for step in getattr(import_module(f".{path.stem}", __package__), "STEPS", ())
    }
    used = {
        argument.attr
        for path in PACKAGE.rglob("*.py")
        for call, _around in calls(path)
        for argument in call.args
        if isinstance(argument, ast.Attribute) and getattr(argument.value, "id", "") == "Step"
    }
    assert used == {step.name for step in Step}
    assert killed_at == set(Step)
