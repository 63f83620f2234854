"""Who imports whom outside the package: tests and benchmarks stand on the testbed, and not on each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.parsed import nodes_of

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "src": set(),
    "testbed": {"testbed"},
    "benchmarks": {"benchmarks", "testbed"},
    "tests": {"support", "testbed"},
}
"""The parts of the project that each part may import, besides the package itself."""

PARTS = {"benchmarks", "support", "testbed", "tests"}


def imported(path: Path) -> Iterator[str]:
    """The first name of everything that a module imports."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).split(".")[0]


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_a_part_of_the_project_imports_only_what_it_may(part: str) -> None:
    modules = sorted((ROOT / part).rglob("*.py"))
    assert modules
    forbidden = PARTS - MAY_IMPORT[part]
    assert {str(path.relative_to(ROOT)): found for path in modules if (found := forbidden & set(imported(path)))} == {}


def test_only_the_configuration_of_the_tests_changes_the_import_path() -> None:
    folders = ("src", "testbed", "benchmarks", "tests")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)]
    found = [path for path in modules if "sys.path" in path.read_text(encoding="utf-8")]
    assert found == [ROOT / "tests" / "conftest.py"]
