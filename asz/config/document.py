"""A YAML file as plain values, with the line of every key and item."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from asz.errors import ConfigError

Location = tuple[str | int, ...]
"""Keys and list positions from the top of the document."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is a mapping, not yet checked any further."""

    file: Path
    values: dict[str, Any]
    lines: Mapping[Location, int]
    """Line of each key and item, from 1; the document itself is ``()``."""


def read_document(file: Path) -> Document:
    """Read ``file``.

    :raises ConfigError: it cannot be read, is not YAML, is no mapping, or says a key twice.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error.reason} at byte {error.start}") from error
    lines: dict[Location, int] = {(): 1}
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        value = {} if root is None else _Reader(file, loader, lines).value(root, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}" if mark else str(file)
        raise ConfigError(f"{place}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(value, dict):
        raise ConfigError(
            f"{file}:1: expected keys such as storage or adapters, found {value!r:.60}"
        )
    return Document(file, value, lines)


class _Reader:
    """Turns nodes into values; the stock constructor forgets lines and takes the last of two keys."""

    def __init__(self, file: Path, loader: yaml.SafeLoader, lines: dict[Location, int]) -> None:
        self._file = file
        self._loader = loader
        self._lines = lines
        self._open: set[int] = set()

    def value(self, node: yaml.Node, path: Location) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._loader.construct_object(node)
        if id(node) in self._open:
            self._fail(node, "an alias that holds itself")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            return [self._item(item, (*path, place)) for place, item in enumerate(node.value)]
        finally:
            self._open.remove(id(node))

    def _item(self, node: yaml.Node, path: Location) -> Any:
        self._lines[path] = node.start_mark.line + 1
        return self.value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Location) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode):
                self._fail(key_node, "a key that is not a word")
            if key in out:
                self._fail(key_node, f"{key}: the key is there twice")
            self._lines[*path, key] = key_node.start_mark.line + 1
            out[key] = self.value(value_node, (*path, key))
        return out

    def _fail(self, node: yaml.Node, what: str) -> None:
        raise ConfigError(f"{self._file}:{node.start_mark.line + 1}: {what}")
