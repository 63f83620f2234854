"""The made-up tables of PRIORI's evaluation: social security number, postal code, age, sex, blood group."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

BLOOD_GROUPS = ("0+", "0-", "A+", "A-", "B+", "B-", "AB+", "AB-")


def table(rows: int, *, seed: int = 1) -> pl.DataFrame:
    """A table of so many people, all drawn evenly."""
    dice = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "ssn": [f"{number:012d}" for number in dice.choice(10**12, size=rows)],
            "zip_code": [f"{number:05d}" for number in dice.integers(10_000, 99_999, size=rows)],
            "age": dice.integers(0, 100, size=rows),
            "sex": np.array(["f", "m"])[dice.integers(0, 2, size=rows)],
            "blood_type": np.array(BLOOD_GROUPS)[dice.integers(0, 8, size=rows)],
        }
    )


def csv(rows: int, *, seed: int = 1) -> bytes:
    """The table as a file."""
    return table(rows, seed=seed).write_csv().encode()


def anonymous_config(k: int = 5) -> dict[str, Any]:
    """The non-interactive project: k-anonymity and distinct 2-diversity of the blood group."""
    quasi = "quasi-identifying"
    return {
        "attributes": [
            {"attribute_name": "ssn", "attribute_type": "identifying"},
            {"attribute_name": "zip_code", "attribute_type": quasi, "hierarchy": {"redaction": {"length": 5}}},
            {
                "attribute_name": "age",
                "attribute_type": quasi,
                "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [5, 10, 20], "integer": True}},
            },
            {"attribute_name": "sex", "attribute_type": quasi},
            {"attribute_name": "blood_type", "attribute_type": "sensitive"},
        ],
        "privacy_models": [
            {"model_name": "k-anonymity", "model_params": {"k": k}},
            {"model_name": "l-diversity_distinct", "attribute_name": "blood_type", "model_params": {"l": 2}},
        ],
        "suppression_limit": 1.0,
    }


def interactive_config(epsilon: float, delta: float, **cost: float) -> dict[str, Any]:
    """The interactive project."""
    return {
        "attributes": [
            {"attribute_name": "ssn", "attribute_type": "identifying"},
            {
                "attribute_name": "age",
                "attribute_type": "quasi-identifying",
                "metadata": {"datatype": "int", "min": 0, "max": 100},
            },
            {
                "attribute_name": "blood_type",
                "attribute_type": "sensitive",
                "metadata": {"datatype": "str", "cardinality": 8},
            },
        ],
        "privacy_models": [
            {
                "model_name": "epsilon-delta-differential_privacy",
                "model_params": {"epsilon": epsilon, "delta": delta, **cost},
            }
        ],
    }
