"""All that the page shows, computed step by step; what is known already is not computed again."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

import kohorte as ko
from benchmarks.recodings_compared.exact import lower_bounds, optimum
from benchmarks.recodings_compared.measures import AS_SETS, NAMES, Study
from kohorte.data.roles import Role
from kohorte.hierarchies import Intervals, Ordering
from kohorte.metrics import Loss
from kohorte.models import KAnonymity
from kohorte.plans.parts import as_model
from testbed import tables

CLASSES = (2, 5, 10, 50)
SOME = 1_000
"""Rows of each table on which all methods run."""
MODELS: Mapping[str, Mapping[str, object]] = {
    "distinct-3": {"model": "l-diversity_distinct", "l": 3},
    "0.2-closeness": {"model": "t-closeness_equal", "t": 0.2},
}
FAST = tuple(name for name in NAMES if name not in ("k-member clustering", "MDAV", "iterative local recoding"))
"""The methods that run on whole tables; the others need time that grows with the square of the rows, or many passes."""
WHOLE = (5, 50)
SMALL_TABLES, SMALL_ROWS = 100, 12
SMALL = (AS_SETS, "k-member clustering", "MDAV", "Hilbert order and dynamic programming", "`least_loss`, sets")
Results = dict[str, object]
Setup = tuple[pl.DataFrame, ko.Plan, str, str]
"""Rows, a plan for k-anonymity, the column that a classifier predicts, and the sensitive attribute."""


def adult() -> Setup:
    """ADULT: eight quasi-identifiers; the salary class is predicted, the occupation is sensitive where one is."""
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    return (
        frame,
        _with(tables.plan("adult", k=5, limit=0.0, metric="loss"), "salary-class"),
        "salary-class",
        "occupation",
    )


def cup() -> Setup:
    """CUP: seven quasi-identifiers; the income is predicted, the largest gift is sensitive where one is."""
    frame = ko.read_table(tables.DATA / "cup.csv").frame
    return frame, _with(tables.plan("cup", k=5, limit=0.0, metric="loss"), "INCOME"), "INCOME", "RAMNTALL"


def random_rows(rows: int = SOME) -> Setup:
    """Four numbers and two categories that depend on the same two hidden numbers, and an outcome that does."""
    random = np.random.default_rng(7)
    hidden = random.normal(size=(rows, 2))
    quasi = {}
    numbers = {"a": (1.0, 0.2), "b": (0.9, -0.4), "c": (0.1, 1.0), "d": (-0.5, 0.8)}
    for name, weights in numbers.items():
        values = hidden @ np.array(weights) + 0.4 * random.normal(size=rows)
        quasi[name] = np.clip(np.rint(50 + 15 * values), 0, 99).astype(int).astype(str)
    names = [f"v{number}" for number in range(12)]
    for name, column in (("e", 0), ("f", 1)):
        ranks = np.argsort(np.argsort(hidden[:, column] + random.normal(size=rows))) * len(names) // rows
        quasi[name] = np.array(names)[ranks]
    outcome = np.where(hidden.sum(axis=1) + 0.5 * random.normal(size=rows) > 0, "yes", "no")
    sensitive = np.array(["s1", "s2", "s3", "s4", "s5"])[random.integers(0, 5, rows)]
    steps = Intervals(lower=0, upper=100, widths=[5, 25], integer=True)
    order = Ordering(values=names, fanouts=[3, 2], labels="set")
    attributes = {name: ko.Attribute(Role.QUASI_IDENTIFYING, hierarchy=steps) for name in numbers}
    attributes |= {name: ko.Attribute(Role.QUASI_IDENTIFYING, hierarchy=order) for name in ("e", "f")}
    attributes |= {"outcome": ko.Attribute(Role.INSENSITIVE), "secret": ko.Attribute(Role.INSENSITIVE)}
    plan = ko.Plan(attributes=attributes, models=[KAnonymity(k=5)], metric=Loss())
    return pl.DataFrame({**quasi, "outcome": outcome, "secret": sensitive}), plan, "outcome", "secret"


@contextmanager
def cohort() -> Iterator[Setup]:
    """The made-up cohort: nine quasi-identifiers; the diagnosis is predicted, and sensitive where one is."""
    with tables.generated(SOME) as (frame, plan):
        bare = replace(plan, models=(KAnonymity(k=5),), suppression_limit=0.0, metric=Loss(), person=None)
        yield frame, bare, "diagnosis", "diagnosis"


def _with(plan: ko.Plan, task: str) -> ko.Plan:
    return replace(plan, attributes={**plan.attributes, task: ko.Attribute(Role.INSENSITIVE)})


def _for(setup: Setup, k: int, model: Mapping[str, object] | None = None) -> ko.Plan:
    """The plan for a class size, and for a model of the sensitive attribute."""
    _, plan, _, sensitive = setup
    if model is None:
        return replace(plan, models=(KAnonymity(k=k),))
    attributes = {**plan.attributes, sensitive: replace(plan.attributes[sensitive], role=Role.SENSITIVE)}
    return replace(
        plan,
        attributes=attributes,
        models=(KAnonymity(k=k), as_model({**model, "attribute": sensitive}, folder=tables.DATA)),
    )


class Record:
    """The results in their file; each is written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: Results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def know(self, key: str, compute: Callable[[], object]) -> None:
        """Compute what is not yet known, and write it."""
        if key in self.results:
            return
        self.results[key] = compute()
        self.results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        text = json.dumps(self.results, indent=1, sort_keys=True)
        self.path.write_text(text + "\n", encoding="utf-8")
        print(key, flush=True)


def samples(record: Record) -> None:
    """All methods on some rows of each table: every k, and two models of a sensitive attribute."""
    with cohort() as made_up:
        for name, setup in {"ADULT": adult(), "CUP": cup(), "cohort": made_up, "random": random_rows()}.items():
            frame, _, task, _ = setup
            some = frame if frame.height <= SOME else frame.sample(SOME, seed=1)
            for k in CLASSES:
                study = Study.of(some, _for(setup, k), task)
                record.know(f"learnt/{name}", lambda study=study: study.learnt_from_original())  # type: ignore[misc]
                for method in NAMES:
                    key = f"some/{name}/k={k}/{method}"
                    record.know(key, lambda study=study, method=method: study.to_dict(method))  # type: ignore[misc]
                record.know(f"bound/{name}/some/k={k}", lambda study=study, k=k: lower_bounds(study.space, (k,))[k])  # type: ignore[misc]
            for label, model in MODELS.items():
                study = Study.of(some, _for(setup, 5, model))
                for method in NAMES:
                    key = f"some/{name}/{label}/{method}"
                    record.know(key, lambda study=study, method=method: study.to_dict(method))  # type: ignore[misc]


def whole(record: Record) -> None:
    """The faster methods on all rows of the public tables, with all their quasi-identifiers."""
    for name in ("adult", "cup"):
        frame = ko.read_table(tables.DATA / f"{name}.csv").frame
        for k in WHOLE:
            study = Study.of(frame, tables.plan(name, k=k, limit=0.0, metric="loss"))
            for method in FAST:
                key = f"whole/{name.upper()}/k={k}/{method}"
                record.know(key, lambda study=study, method=method: study.to_dict(method))  # type: ignore[misc]
        space = study.space
        record.know(
            f"bound/{name.upper()}/whole",
            lambda space=space: {str(k): bound for k, bound in lower_bounds(space, WHOLE).items()},  # type: ignore[misc]
        )


def small(record: Record) -> None:
    """The distance to the exact optimum on small random tables."""
    record.know("small", _small)


def _small() -> dict[str, dict[str, float]]:
    off: dict[str, list[float]] = {method: [] for method in SMALL}
    for seed in range(SMALL_TABLES):
        random = np.random.default_rng(seed)
        columns = {
            "number": random.integers(0, 9, SMALL_ROWS).astype(str),
            "colour": random.choice(["red", "green", "blue", "grey"], SMALL_ROWS),
            "other": random.integers(0, 5, SMALL_ROWS).astype(str),
        }
        order = Ordering(values=["red", "green", "blue", "grey"], fanouts=[2], labels="set")
        attributes = {name: ko.Attribute(Role.QUASI_IDENTIFYING) for name in columns}
        attributes["colour"] = ko.Attribute(Role.QUASI_IDENTIFYING, hierarchy=order)
        k = 2 + seed % 2
        study = Study.of(pl.DataFrame(columns), ko.Plan(attributes=attributes, models=[KAnonymity(k=k)], metric=Loss()))
        least = optimum(study.space, k)
        for method in SMALL:
            off[method].append(study.measured(method).loss / least - 1)
    return {
        method: {"median": median(found), "most": max(found), "optimal": sum(one < 1e-9 for one in found) / len(found)}
        for method, found in off.items()
    }
