"""The public benchmark tables, and plans for them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

import kohorte as ko
from kohorte.cohorts import hierarchy_files, plan_text

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


SENSITIVE = {"adult": "occupation", "cup": "RAMNTALL"}


@contextmanager
def generated(rows: int) -> Iterator[tuple[pl.DataFrame, ko.Plan]]:
    """Make up a cohort with nine quasi-identifiers, and its plan (k = 5, 5 %), whose files are there for a while."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"plan.yaml": plan_text(wide=True), **hierarchy_files(wide=True)}.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        yield ko.cohort(rows, wide=True), ko.Plan.from_yaml(Path(folder, "plan.yaml"))


SENSITIVE_MODELS: Mapping[str, Mapping[str, object]] = {
    "distinct": {"model": "l-diversity_distinct", "l": 2},
    "recursive": {"model": "l-diversity_recursive", "c": 4, "l": 3},
    "hierarchical": {"model": "t-closeness_hierarchical", "t": 0.2},
}
"""What studies of several parties ask of the sensitive attribute, besides k = 5."""


def sensitive_plan(table: str, *, limit: float, models: Sequence[Mapping[str, object]] = ()) -> ko.Plan:
    """Return the plan of a benchmark with a sensitive attribute: k = 5 and these models for it."""
    sensitive = SENSITIVE[table]
    names = [name for name in QUASI_IDENTIFIERS[table] if name != sensitive]
    attributes = {
        name: {
            "role": "sensitive" if name == sensitive else "quasi-identifying",
            "hierarchy": {"csv": f"hierarchies/{table}_hierarchy_{name}.csv"},
        }
        for name in (*names, sensitive)
    }
    entry = {
        "kohorte": 1,
        "attributes": attributes,
        "models": [{"model": "k-anonymity", "k": 5}, *({**model, "attribute": sensitive} for model in models)],
        "suppression_limit": limit,
        "metric": {"metric": "non_uniform_entropy"},
    }
    return ko.Plan.from_dict(entry, folder=DATA)


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
