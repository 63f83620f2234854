"""YAML in which everything is text, each key stands once, and nothing is repeated by reference."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from kohorte.errors import InputError
from kohorte.hierarchy.files import read_text


class _DuplicateKeyError(yaml.YAMLError):
    pass


class _AliasError(yaml.YAMLError):
    pass


class _PlainLoader(yaml.BaseLoader):
    """Aliases are refused because a few lines of them can stand for billions of values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise _AliasError
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(keys) != len(set(keys)):
            raise _DuplicateKeyError
        return super().construct_mapping(node, deep=deep)


def read_plain_yaml(name: str, *, folder: Path) -> object:
    """The content of a YAML file."""
    text = read_text(name, folder=folder)
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a BaseLoader makes text only
    except _DuplicateKeyError:
        raise InputError(f"{name}: a category stands twice in one place", code="tree-duplicate-key") from None
    except _AliasError:
        raise InputError(f"{name}: references (*name) are not allowed", code="tree-malformed") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{name} is no valid YAML{line}", code="tree-malformed") from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply", code="tree-too-deep") from None
