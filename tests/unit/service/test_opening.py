"""Whoever starts the service without its libraries is told which are missing."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.service.processes import opening

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_the_libraries_that_are_looked_for_are_those_of_the_extra() -> None:
    extra = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]["service"]
    wanted = {re.split(r"[\[>=<]", entry)[0].lower() for entry in extra}
    distributions = packages_distributions()
    found = {distributions[name][0].lower().replace("_", "-") for name in opening.LIBRARIES}
    assert found == wanted


@pytest.mark.parametrize("missing", opening.LIBRARIES)
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(InputError, match=rf"needs {missing}; install kohorte\[service\]") as caught:
        opening.refuse_missing_libraries()
    assert caught.value.code == "service-library-missing"
