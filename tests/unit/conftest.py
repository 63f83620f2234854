"""A small hospital, and how plans for it are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Intervals, Redaction
from kohorte.models import KAnonymity

MakePlan = Callable[..., ko.Plan]


@pytest.fixture
def make_plan() -> MakePlan:
    """Make a plan from the columns of each role; `hierarchies` and `weights` by column."""

    def make(
        quasi: str | list[str],
        *,
        identifying: str = "",
        sensitive: str = "",
        insensitive: str = "",
        k: int = 2,
        hierarchies: dict[str, Any] | None = None,
        weights: dict[str, float] | None = None,
        **options: Any,
    ) -> ko.Plan:
        names = quasi.split() if isinstance(quasi, str) else quasi
        attributes = {name: ko.Attribute("identifying") for name in identifying.split()}
        attributes |= {
            name: ko.Attribute(
                "quasi-identifying", hierarchy=(hierarchies or {}).get(name), weight=(weights or {}).get(name, 1.0)
            )
            for name in names
        }
        attributes |= {name: ko.Attribute("sensitive") for name in sensitive.split()}
        attributes |= {name: ko.Attribute("insensitive") for name in insensitive.split()}
        return ko.Plan(attributes=attributes, models=[KAnonymity(k=k)], **options)

    return make


@pytest.fixture
def patients() -> pl.DataFrame:
    """Twelve patients: three pairs and one group of five at full detail, one alone."""
    return pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(12)],
            "zip": ["81667"] * 5 + ["81675"] * 2 + ["80331"] * 2 + ["80333"] * 2 + ["10115"],
            "age": [34, 34, 34, 34, 34, 45, 45, 66, 66, 18, 18, 90],
            "sex": list("mmmmmffmmffd"),
            "diagnosis": [f"D{number % 4}" for number in range(12)],
            "visits": list(range(12)),
        }
    )


@pytest.fixture
def patient_plan(make_plan: MakePlan) -> ko.Plan:
    """The plan for the twelve patients, at most one of them suppressed."""
    return make_plan(
        "zip age sex",
        identifying="name",
        sensitive="diagnosis",
        insensitive="visits",
        hierarchies={
            "zip": Redaction(),
            "age": Intervals(lower=0, upper=100, widths=[20, 40], integer=True),
        },
        suppression_limit=0.1,
        order="input",
    )
