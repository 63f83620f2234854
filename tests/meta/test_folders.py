"""Folders of the package: which imports which, and how many modules each has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kohorte"
MOST_MODULES = 15
FAMILIES = {"cli/verbs"}
"""Folders with a module for each member of a family, which may have more."""


def folder_of(module: str, packages: Set[str]) -> str:
    """The folder of a module; a module that lies beside folders stands for itself, as in the import rules."""
    folder = module.rpartition(".")[0]
    beside_folders = any(other.rpartition(".")[0] == folder for other in packages)
    return module if module in packages or beside_folders else folder


@pytest.fixture(scope="module")
def imports() -> Mapping[str, set[str]]:
    """What each folder imports. The `__init__` of a folder only lists what it offers, so that it is not counted."""
    graph = grimp.build_graph("kohorte", cache_dir=None)
    packages = {module for module in graph.modules if graph.find_children(module)}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in graph.modules - packages:
        importer = folder_of(module, packages)
        imported = {folder_of(other, packages) for other in graph.find_modules_directly_imported_by(module)}
        found[importer] |= imported - {importer}
    return found


def test_no_two_folders_import_each_other(imports: Mapping[str, set[str]]) -> None:
    pairs = {tuple(sorted((one, other))) for one in imports for other in imports[one] if one in imports.get(other, ())}
    assert sorted(pairs) == []


def test_no_imports_of_folders_go_round_in_a_circle(imports: Mapping[str, set[str]]) -> None:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def test_no_folder_has_too_many_modules() -> None:
    sizes = {path: len(set(path.glob("*.py")) - {path / "__init__.py"}) for path in PACKAGE.rglob("*") if path.is_dir()}
    large = {str(path.relative_to(PACKAGE)): size for path, size in sizes.items() if size > MOST_MODULES}
    assert {name: size for name, size in large.items() if name not in FAMILIES} == {}
