"""The problems of the evaluation, and how each becomes a plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import kohorte as ko
from testbed import tables

SENSITIVE = {"adult": "occupation", "cup": "RAMNTALL"}
SUBSET = "in_subset"
SUBSET_SEED = 2015
SUBSET_SHARE = 10

SWEEP = (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100)
LIMITS = (0.0, 0.05)

NUE = "non_uniform_entropy"
NUE_SUPPRESSION = "non_uniform_entropy_suppression"

Model = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One problem: a table, models as entries of a plan, a suppression limit and a metric.

    `sensitive`: this attribute is not a quasi-identifier, as in table 3.1 and cases 2 to 6 of Kohlmayer (2015). `name`
    is what the pages call the models, `seed` draws the subset of delta-presence.
    """

    name: str
    table: str
    models: tuple[Model, ...]
    limit: float
    metric: str
    sensitive: str | None = None
    seed: int = SUBSET_SEED

    def plan(self, algorithm: str) -> ko.Plan:
        """The plan of the case; file names are relative to the folder of the tables."""
        attributes: dict[str, dict[str, Any]] = {
            name: {
                "role": "sensitive" if name == self.sensitive else "quasi-identifying",
                "hierarchy": {"csv": f"hierarchies/{self.table}_hierarchy_{name}.csv"},
            }
            for name in tables.QUASI_IDENTIFIERS[self.table]
        }
        if self.has_subset:
            attributes[SUBSET] = {"role": "insensitive"}
        search: dict[str, Any] = {"algorithm": algorithm}
        if algorithm == "flash_parallel":
            search["threads"] = 2
        entry = {
            "kohorte": 1,
            "attributes": attributes,
            "models": [dict(model) for model in self.models],
            "suppression_limit": self.limit,
            "metric": {"metric": self.metric},
            "search": search,
        }
        return ko.Plan.from_dict(entry, folder=tables.DATA)

    def frame(self) -> pl.DataFrame:
        """The rows; with a column that flags a random subset where a model asks for it."""
        return _with_subset(self.table, self.seed) if self.has_subset else _frame(self.table)

    @property
    def has_subset(self) -> bool:
        """Whether a model looks at the table as the population of a subset."""
        return any("subset" in model for model in self.models)

    def __str__(self) -> str:
        return f"{self.table} ({self.name}) {self.limit:.0%} {self.metric}"


@cache
def _frame(table: str) -> pl.DataFrame:
    return ko.read_table(tables.DATA / f"{table}.csv").frame


@cache
def _with_subset(table: str, seed: int) -> pl.DataFrame:
    """The table with a flag for a tenth of its rows, drawn with a seed."""
    frame = _frame(table)
    flags = np.zeros(frame.height, dtype=np.int8)
    flags[np.random.default_rng(seed).permutation(frame.height)[: frame.height // SUBSET_SHARE]] = 1
    return frame.with_columns(pl.Series(SUBSET, flags))


def k_case(table: str, k: int, limit: float, metric: str) -> Case:
    """k-anonymity over all quasi-identifiers."""
    return Case(f"k={k}", table, ({"model": "k-anonymity", "k": k},), limit, metric)


PRESENCE_OF_TABLE = (0.05, 0.15)
PRESENCE_OF_FIGURES = (0.0, 0.2)


def model_case(
    letters: str,
    table: str,
    limit: float,
    metric: str,
    *,
    presence: tuple[float, float] = PRESENCE_OF_FIGURES,
) -> Case:
    """The models of letters such as "k,l,d", with a sensitive attribute that is no quasi-identifier."""
    attribute = SENSITIVE[table]
    minimum, maximum = presence
    entries: dict[str, Model] = {
        "k": {"model": "k-anonymity", "k": 5},
        "l": {"model": "l-diversity_recursive", "attribute": attribute, "c": 3.0, "l": 4},
        "t": {"model": "t-closeness_hierarchical", "attribute": attribute, "t": 0.2},
        "t equal": {"model": "t-closeness_equal", "attribute": attribute, "t": 0.2},
        "d": {
            "model": "delta-presence",
            "minimum": minimum,
            "maximum": maximum,
            "subset": SUBSET,
            "empty_classes": "ignore",
        },
    }
    models = tuple(entries[letter] for letter in letters.split(","))
    return Case(letters, table, models, limit, metric, sensitive=attribute)


@dataclass(frozen=True)
class Reference:
    """A case that ARX solved, with the cost of its optimum, its warm time and its checks."""

    case: Case
    cost: float
    arx_ms: float
    arx_checks: int


def references() -> list[Reference]:
    """The recorded optima of ARX."""
    entries = json.loads((tables.DATA / "reference_optima.json").read_text(encoding="utf-8"))
    return [_reference(entry) for entry in entries]


def _reference(entry: Mapping[str, Any]) -> Reference:
    case = Case(
        name=" + ".join(_short(model) for model in entry["models"]),
        table=entry["table"],
        models=tuple(entry["models"]),
        limit=entry["suppression_limit"],
        metric=entry["metric"],
        sensitive=entry["sensitive"],
    )
    return Reference(case, entry["cost"], entry["arx_ms"], entry["arx_checks"])


def _short(model: Model) -> str:
    if model["model"] == "k-anonymity":
        return f"k={model['k']}"
    family, _, variant = str(model["model"]).partition("_")
    if family == "t-closeness":
        return f"{model['t']:g}-closeness ({variant})"
    numbers = f"({model['c']:g},{model['l']})" if "c" in model else f"{model['l']:g}"
    return f"{variant}-{numbers}-diversity"
