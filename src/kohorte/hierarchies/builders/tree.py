"""Category trees, written as nested YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self, TypeAlias

import polars as pl

from kohorte.data import strict_yaml
from kohorte.errors import InputError
from kohorte.hierarchies.builder import Builder, Labels, Options
from kohorte.hierarchies.files import file_name, read_text
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.labels import SUPPRESSED
from kohorte.hierarchies.options import label_text

Branch: TypeAlias = "dict[str, Branch] | list[Branch] | str"
MOST_LEVELS = 50


@dataclass(frozen=True)
class Tree(Builder):
    """`{Infectious: {Viral: [flu, measles], Bacterial: [tb]}}`: a mapping names categories, a list values.

    Give either the `tree` or the `path` of a YAML file. An empty category is a value. A value that is less
    deep than others keeps its label until the level of its category. All values of the tree are in the
    hierarchy, also those that the data lack. A file is read as text: `no` and 0123 stay as they are.
    """

    name: ClassVar[str] = "tree"

    tree: Mapping[str, object] | Sequence[object] | None = field(default=None, hash=False)
    path: str | None = None
    folder: Path = field(default=Path(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.tree is None) == (self.path is None):
            raise InputError("tree: give either the tree or a file", code="hierarchy-option-missing")
        if self.path is not None:
            object.__setattr__(self, "path", file_name(self.path, option="tree: path"))
        else:
            object.__setattr__(self, "tree", _branch(self.tree, depth=0))
            _leaves(self.tree, where="tree")

    @property
    def independent(self) -> bool:
        """True: the values come from the plan, not from the data."""
        return True

    def files(self) -> tuple[Path, ...]:
        """The file of the hierarchy, if it has one."""
        return () if self.path is None else (self.folder / self.path,)

    def fixed(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy itself, in case the file changes; it contains all known values."""
        return hierarchy

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:  # noqa: ARG002 - the tree decides
        """Each value with its categories, finest first, aligned at the top."""
        tree = self.tree if self.path is None else _tree_of_file(self.path, folder=self.folder)
        leaves = _leaves(tree, where=f"{attribute}: tree")
        depth = max(len(categories) for _, categories in leaves)
        rows = [
            [value] * (depth - len(categories) + 1) + [*reversed(categories), SUPPRESSED]
            for value, categories in leaves
        ]
        columns = {str(level): column for level, column in enumerate(zip(*rows, strict=True))}
        return Labels(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)))

    def to_dict(self) -> Options:
        """The name of the file, or the tree itself."""
        return self.path or self.tree or {}

    @classmethod
    def from_dict(cls, options: Options, *, folder: Path) -> Self:
        """From the name of a file or from a nested mapping, also written as `{path: NAME}` or `{tree: MAPPING}`."""
        if isinstance(options, Mapping) and list(options) == ["path"] and isinstance(options["path"], str):
            options = options["path"]  # a tree of one category with one value would generalize nothing
        if isinstance(options, Mapping) and list(options) == ["tree"] and isinstance(options["tree"], Mapping):
            options = options["tree"]  # a category of all values would only make the distances of t-closeness smaller
        if isinstance(options, str):
            return cls(path=options, folder=folder)
        return cls(tree=options, folder=folder)


def _tree_of_file(name: str, *, folder: Path) -> Branch:
    data = strict_yaml.load_text(
        read_text(name, folder=folder),
        source=name,
        code="tree-malformed",
        duplicate_key_code="tree-duplicate-key",
        too_deep_code="tree-too-deep",
    )
    return _branch(data, depth=0)


def _branch(node: object, *, depth: int) -> Branch:
    """The node with plain dicts, lists and text only."""
    if depth > MOST_LEVELS:
        raise InputError(f"tree: more than {MOST_LEVELS} levels", code="tree-too-deep")
    if isinstance(node, Mapping):
        return {label_text(name, option="tree"): _content(below, depth) for name, below in node.items()}
    if isinstance(node, Sequence) and not isinstance(node, str | bytes):
        return [_branch(below, depth=depth + 1) for below in node]
    return label_text(node, option="tree")


def _content(below: object, depth: int) -> Branch:
    return [] if below is None or below == "" else _branch(below, depth=depth + 1)


def _leaves(tree: object, *, where: str) -> list[tuple[str, tuple[str, ...]]]:
    """Each value with its categories, outermost first; a value that occurs twice is refused."""
    leaves = list(_walk(tree, ()))
    if not leaves:
        raise InputError(f"{where}: there are no values in the tree", code="tree-empty")
    if repeated := len(leaves) - len({value for value, _ in leaves}):
        raise InputError(f"{where}: {repeated} values occur in the tree more than once", code="tree-duplicate-values")
    return leaves


def _walk(node: object, categories: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(node, str):
        yield node, categories
    elif isinstance(node, dict):
        for name, below in node.items():
            if below:
                yield from _walk(below, (*categories, name))
            else:
                yield name, categories
    elif isinstance(node, list):
        for below in node:
            yield from _walk(below, categories)
