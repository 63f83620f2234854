"""Models and their parameters as text."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.models import PrivacyModel
from kohorte.plans.plan import Plan


def with_parameters(name: str, parameters: Mapping[str, object]) -> str:
    """A model with its parameters: `k-anonymity (k = 5)`."""
    listed = ", ".join(f"{key} = {value}" for key, value in parameters.items())
    return f"{name} ({listed})" if listed else name


def model_in_words(model: PrivacyModel) -> str:
    """A model of a plan with its parameters."""
    return with_parameters(model.name, {key: value for key, value in model.to_dict().items() if key != "model"})


def unit_of(plan: Plan) -> Unit:
    """What the classes of a release count: people if the plan says whom a row is about, else rows."""
    return PEOPLE if plan.unit.counts_people else ROWS


def unit_named(name: str) -> Unit:
    """The unit that a verification has counted."""
    return PEOPLE if name == PEOPLE.many else ROWS


def reached_in_words(reached: float | tuple[float, float] | None) -> str:
    """The parameter that a table reaches, as text."""
    if reached is None:
        return "nothing"
    return " to ".join(f"{number:.6g}" for number in (reached if isinstance(reached, tuple) else (reached,)))
