"""The public benchmark tables, and plans for them."""

from __future__ import annotations

from pathlib import Path

import kohorte as ko

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"

QUASI_IDENTIFIERS = {
    "adult": (
        "sex",
        "age",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ),
    "cup": ("ZIP", "AGE", "GENDER", "INCOME", "STATE", "RAMNTALL", "NGIFTALL", "MINRAMNT"),
}


def available() -> bool:
    """Tell whether the tables are there."""
    return (DATA / "adult.csv").exists() and (DATA / "cup.csv").exists()


def plan(table: str, *, k: int, limit: float, metric: str, algorithm: str = "optimal") -> ko.Plan:
    """Return the plan of a benchmark; file names are relative to the folder of the tables."""
    attributes = {
        name: {"role": "quasi-identifying", "hierarchy": {"csv": f"hierarchies/{table}_hierarchy_{name}.csv"}}
        for name in QUASI_IDENTIFIERS[table]
    }
    entry = {
        "kohorte": 1,
        "attributes": attributes,
        "models": [{"model": "k-anonymity", "k": k}],
        "suppression_limit": limit,
        "metric": {"metric": metric},
        "search": {"algorithm": algorithm},
    }
    return ko.Plan.from_dict(entry, folder=DATA)
