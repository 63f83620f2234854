"""Metadata, tables and neighbours for the tests of questions with noise."""

from __future__ import annotations

from typing import Any

import polars as pl

from kohorte.dp import QueryMetadata

COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"datatype": "int", "min": 0, "max": 120},
    "weight": {"datatype": "float", "min": 0.5, "max": 300, "step": 0.5},
    "lab": {"datatype": "float"},
    "married": {"datatype": "bool"},
    "sex": {"datatype": "text", "values": ["f", "m"]},
    "diagnosis": {"datatype": "text", "cardinality": 20},
}
AGGREGATES = (
    "COUNT(*)",
    "COUNT(age)",
    "COUNT(DISTINCT pid)",
    "SUM(age)",
    "AVG(age)",
    "VARIANCE(age)",
    "STDDEV(age)",
    "MIN(age)",
    "MAX(age)",
    "MEDIAN(age)",
    "QUANTILE(age, 0.25)",
)


def metadata(**changes: Any) -> QueryMetadata:
    """Metadata of a table of patients; `changes` replace whole keys."""
    given: dict[str, Any] = {
        "table": "PRIORI",
        "columns": COLUMNS,
        "private_id": "pid",
        "max_contributions": 1,
        "budget": {"epsilon": 10.0, "delta": 1e-5},
    }
    return QueryMetadata.from_dict({**given, **changes})


def patients(rows: int) -> pl.DataFrame:
    """A table in which everybody has one row and everything is known."""
    numbers = range(rows)
    return pl.DataFrame(
        {
            "pid": [f"p{number}" for number in numbers],
            "age": [20 + number % 60 for number in numbers],
            "weight": [50.0 + number % 50 for number in numbers],
            "lab": [float(number % 7) for number in numbers],
            "married": [number % 2 == 0 for number in numbers],
            "sex": ["f" if number % 3 else "m" for number in numbers],
            "diagnosis": [f"K{number % 5}" for number in numbers],
        }
    )
