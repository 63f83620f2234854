"""The public face of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import kohorte
from kohorte import errors

STUB = Path(kohorte.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
MOST_NAMES = 40
FAMILIES = {"attacks", "hierarchies", "metrics", "models"}


def listed() -> list[tuple[str, str]]:
    """The names of the stub, each with the module it comes from."""
    imports = [node for node in ast.parse(STUB).body if isinstance(node, ast.ImportFrom)]
    return [(alias.name, node.module or "") for node in imports for alias in node.names]


def test_the_public_names_are_those_of_the_stub_each_listed_once() -> None:
    names = [name for name, _ in listed()]
    assert sorted(names) == sorted(set(names)) == sorted(kohorte.__all__)


def test_there_are_few_public_names_and_the_families_are_among_them() -> None:
    assert len(kohorte.__all__) <= MOST_NAMES
    assert set(kohorte.__all__) >= FAMILIES


def test_every_public_name_can_be_loaded() -> None:
    for name, module in listed():
        home = __import__(f"kohorte.{module}", fromlist=[name]) if module else kohorte
        assert getattr(kohorte, name) is getattr(home, name)


def test_every_family_lists_its_members() -> None:
    for family in FAMILIES:
        module = getattr(kohorte, family)
        assert all(hasattr(module, name) for name in module.__all__)


def test_the_errors_that_users_catch_are_public() -> None:
    assert {"InputError", "KohorteError", "NoSolution", "PrivacyViolation"} <= set(kohorte.__all__)
    assert issubclass(errors.BudgetExceeded, kohorte.PrivacyViolation)


def test_dir_shows_the_public_names() -> None:
    assert set(kohorte.__all__) <= set(dir(kohorte))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(kohorte, "no_such_name")
