"""Models with their parameters, and sections of their docstrings, as text."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from kohorte.models.base import PrivacyModel


def with_parameters(name: str, parameters: Mapping[str, object]) -> str:
    """A model with its parameters: `k-anonymity (k = 5)`."""
    listed = ", ".join(f"{key} = {value}" for key, value in parameters.items())
    return f"{name} ({listed})" if listed else name


def model_in_words(model: PrivacyModel) -> str:
    """A model of a plan with its parameters."""
    return with_parameters(model.name, {key: value for key, value in model.to_dict().items() if key != "model"})


def section_of(docstring: str | None, title: str) -> str:
    """Return a section of a docstring, such as *Leaves open*, as one line; empty if there is none."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    body: list[str] = []
    for line in lines[lines.index(title) + 1 :] if title in lines else ():
        if line and not line.startswith(" "):
            break
        body.append(line.strip())
    return " ".join(body).strip()
