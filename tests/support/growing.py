"""A growing table of patients, and the plan and settings of its series."""

from __future__ import annotations

import numpy as np
import polars as pl

import kohorte as ko

SETTINGS = {"regions": {"zip": {"digits": 3}}}
NAMES = ("id", "age", "zip", "ward", "diagnosis")


def patients(rows: int, *, seed: int = 1) -> pl.DataFrame:
    """So many patients; those of a smaller number come first."""
    random = np.random.default_rng(seed)
    size = 100_000
    columns = {
        "age": random.integers(0, 100, size)[:rows].astype(str),
        "zip": [f"{number:03}" for number in random.integers(0, 1000, size)[:rows]],
        "ward": random.choice(["A1", "A2", "B1", "B2"], size)[:rows],
        "diagnosis": random.choice(["flu", "tb", "asthma", "cold"], size)[:rows],
    }
    return pl.DataFrame({"id": [f"p{number}" for number in range(rows)], **columns})


def plan(**changes: object) -> ko.Plan:
    """k = 5 and three different diagnoses; ages by intervals, wards in a tree."""
    entries: dict[str, object] = {
        "kohorte": 1,
        "attributes": {
            "id": {"role": "identifying"},
            "age": {
                "role": "quasi-identifying",
                "hierarchy": {"intervals": {"lower": 0, "upper": 120, "widths": [10, 20], "integer": True}},
            },
            "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "ward": {"role": "quasi-identifying", "hierarchy": {"tree": {"A": ["A1", "A2"], "B": ["B1", "B2"]}}},
            "diagnosis": {"role": "sensitive"},
        },
        "models": [
            {"model": "k-anonymity", "k": 5},
            {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 3},
        ],
        "suppression_limit": 0.1,
    }
    return ko.Plan.from_dict(entries | changes)
