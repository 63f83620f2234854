"""The public face of the package."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import kohorte

SOURCE = Path(kohorte.__file__).read_text(encoding="utf-8")


def names_for_type_checkers() -> set[str]:
    """What the block `if TYPE_CHECKING:` imports."""
    [block] = [
        node
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    return {
        alias.name for statement in block.body if isinstance(statement, ast.ImportFrom) for alias in statement.names
    }


def test_the_list_of_public_names_is_sorted_and_without_repetition() -> None:
    assert kohorte.__all__ == sorted(set(kohorte.__all__))


def test_every_public_name_can_be_imported_and_is_the_one_of_its_module() -> None:
    for name in kohorte.__all__:
        home = importlib.import_module(f"kohorte.{kohorte._MODULE[name]}")
        assert getattr(kohorte, name) is getattr(home, name)


def test_the_public_names_are_those_that_are_loaded_lazily_and_those_that_type_checkers_see() -> None:
    assert set(kohorte.__all__) == set(kohorte._MODULE) == names_for_type_checkers()


def test_every_error_that_is_raised_is_public() -> None:
    from kohorte import errors

    classes = {
        name for name, item in vars(errors).items() if isinstance(item, type) and issubclass(item, errors.KohorteError)
    }
    assert classes <= set(kohorte.__all__)


def test_dir_shows_the_public_names() -> None:
    assert set(kohorte.__all__) <= set(dir(kohorte))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(kohorte, "no_such_name")
