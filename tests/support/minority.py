"""A table in which nine people have a rare sex and a rare diagnosis, and are all suppressed with k = 10."""

from __future__ import annotations

from typing import Any

import polars as pl

import kohorte as ko
from kohorte.models import KAnonymity

ROWS, RARE = 600, 9


def minority() -> pl.DataFrame:
    """The table; its values are ordinary, except those of nine rows."""
    rare = {place * 60 for place in range(RARE)}
    return pl.DataFrame(
        {
            "age": [20 + row % 40 for row in range(ROWS)],
            "sex": ["diverse" if row in rare else "fm"[row % 2] for row in range(ROWS)],
            "diagnosis": ["porphyria" if row in rare else ("flu", "cold", "gout")[row % 3] for row in range(ROWS)],
            "ward": [f"ward {row % 5}" for row in range(ROWS)],
        }
    )


def plan_for(**changes: Any) -> ko.Plan:
    """A plan with k = 10 that protects no diagnosis."""
    parts: dict[str, Any] = {
        "attributes": {
            "age": {
                "role": "quasi-identifying",
                "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50], "integer": True}},
            },
            "sex": {"role": "quasi-identifying"},
            "diagnosis": {"role": "sensitive"},
            "ward": {"role": "insensitive"},
        },
        "models": [KAnonymity(10)],
        "person": "none",
        "suppression_limit": 0.05,
    }
    return ko.Plan(**(parts | changes))
