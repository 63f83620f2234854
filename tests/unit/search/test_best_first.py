"""The search that does not list nodes: lattices that no other search can hold, the end by time, and what it proves."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.lattice.lattice import LARGEST
from kohorte.search import best_first

TREE = {"low": {"a": ["0", "1"], "b": ["2", "3"]}, "high": {"c": ["4", "5"], "d": ["6", "7"]}}
LEVELS = 4


def plan(columns: list[str], algorithm: str, **more: object) -> ko.Plan:
    search = {"algorithm": algorithm, **{key: more.pop(key) for key in ("time_limit",) if key in more}}
    entry = {
        "kohorte": 1,
        "person": "none",
        "attributes": {name: {"role": "quasi-identifying", "hierarchy": {"tree": TREE}} for name in columns},
        "models": [{"model": "k-anonymity", "k": 3}],
        "suppression_limit": 0.0,
        "search": search,
        **more,
    }
    return ko.Plan.from_dict(entry)


def table(rows: int, columns: int, seed: int, *, noise: float = 0.3) -> pl.DataFrame:
    """Columns that depend on each other."""
    draw = np.random.default_rng(seed)
    common = draw.integers(0, 8, rows)
    cells = {
        f"q{number}": np.where(draw.random(rows) < noise, draw.integers(0, 8, rows), common)
        for number in range(columns)
    }
    return pl.DataFrame(cells).select(pl.all().cast(pl.String))


def with_lonely_values(frame: pl.DataFrame, columns: int) -> pl.DataFrame:
    """Further columns with a value at every level that only one row has: they can only be removed."""
    lonely = ["0", *["7"] * (frame.height - 1)]
    return frame.with_columns(pl.Series(f"x{number}", lonely) for number in range(columns))


def test_a_lattice_that_no_other_search_can_list_is_searched_to_the_end() -> None:
    frame = table(120, 5, seed=3)
    known = ko.anonymize(frame, plan(frame.columns, "exhaustive"))
    wide = with_lonely_values(frame, 9)
    with pytest.raises(ko.InputError, match="best_first"):
        ko.anonymize(wide, plan(wide.columns, "optimal"))
    found = ko.anonymize(wide, plan(wide.columns, "best_first"))
    assert LEVELS**wide.width > LARGEST
    assert found.optimal
    assert found.checked < 1000
    assert {name: found.levels[name] for name in frame.columns} == known.levels
    assert all(found.levels[f"x{number}"] == LEVELS - 1 for number in range(9))


def test_without_a_time_limit_a_large_lattice_ends_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count()  # each look at the clock is a second later, so that a busy machine changes nothing
    monkeypatch.setattr("kohorte.search.base.time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    monkeypatch.setattr(best_first, "SECONDS", 500.0)
    frame = table(400, 16, seed=4)
    found = ko.anonymize(frame, plan(frame.columns, "best_first", suppression_limit=0.1))
    assert not found.optimal
    figures = found.to_dict()
    assert figures["lattice"] == LEVELS**16
    assert 0 < figures["lower_bound"] <= found.cost
    heuristic = ko.anonymize(frame, plan(frame.columns, "datafly", suppression_limit=0.1))
    assert found.cost <= heuristic.cost


@pytest.mark.parametrize("metric", ["loss", "non_uniform_entropy", "discernibility", "aecs", "precision"])
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_the_optimum_and_ties_are_those_of_all_nodes(metric: str, limit: float) -> None:
    for seed in range(6):
        frame = table(80, 4, seed=seed)
        more = {"metric": {"metric": metric}, "suppression_limit": limit}
        known = ko.anonymize(frame, plan(frame.columns, "exhaustive", **more))
        found = ko.anonymize(frame, plan(frame.columns, "best_first", **more))
        assert (found.optimal, found.levels, found.cost) == (True, known.levels, known.cost)


def test_a_bound_is_never_above_the_optimum_however_early_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(150, 5, seed=9)
    known = ko.anonymize(frame, plan(frame.columns, "exhaustive", suppression_limit=0.1))
    seconds = itertools.count()
    monkeypatch.setattr("kohorte.search.base.time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    told = []
    for most in (1, 3, 10, 30, 100, 300):

        def enough(progress: ko.Progress, most: int = most) -> bool:
            told.append(progress.checked)
            assert progress.lower_bound <= known.cost
            assert 0 <= progress.settled <= progress.nodes
            return progress.checked < most

        found = ko.anonymize(frame, plan(frame.columns, "best_first", suppression_limit=0.1), progress=enough)
        assert found.to_dict()["lower_bound"] <= known.cost <= found.cost
    assert len(set(told)) > 100
