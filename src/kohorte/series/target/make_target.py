"""Making a target from outside statistics: rows like those that are expected, as fine as they could be released.

A region of the target has at least k * (1 + slack) of the expected rows, as rows that are only expected will turn out
differently. The target steers splits; it never allows one.

Source: EP 4 404 095 A1, paragraphs 0082 to 0087.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import as_text, read_table
from kohorte.errors import InputError, nearest
from kohorte.models import KAnonymity, PrivacyModel
from kohorte.release.plan import Plan
from kohorte.release.plan_parts import Within
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import OUTSIDE, Places, Regions
from kohorte.series.judge import Judge
from kohorte.series.splitting.refine import refine
from kohorte.series.target.statistics import read_frequencies
from kohorte.series.target.synthetic import synthetic_rows
from kohorte.series.target.target import Target

MOST_ROWS = 1_000_000
"""How many rows are drawn at most; where more are expected, each stands for several."""


@dataclass(frozen=True, eq=False)
class _Expected:
    """Rows like those that are expected, each of them for several; and their models besides the number of rows."""

    places: Places = field(repr=False)
    frame: pl.DataFrame = field(repr=False)
    models: Sequence[PrivacyModel] = ()


def make_target(
    entry: Mapping[str, Any],
    *,
    plan: Plan,
    axes: Sequence[Axis],
    initial: Regions,
    weights: Sequence[float],
    folder: Path,
) -> Target:
    """Make a target from what the settings say; it is finer than the initial regions."""
    options = {key: entry[key] for key in ("slack", "size", "tolerance", "policy") if entry.get(key) is not None}
    bare = Target(initial, np.zeros(len(initial)), entry.get("expected_rows", 0), **options)
    if bare.expected_rows < plan.smallest_class:
        raise InputError(
            f"target: expected_rows must be at least {plan.smallest_class:,}, the fewest rows of a region",
            code="series-target",
        )
    expected = _expected(entry, plan, axes, folder, bare.expected_rows)
    inside = np.flatnonzero((expected.places != OUTSIDE).all(axis=1))
    if not len(inside):
        raise InputError("target: no expected row lies in the domain of the series", code="series-target")
    each = Fraction(bare.expected_rows, len(expected.places))
    models = (KAnonymity(_rows_of_a_class(plan, bare.slack, each)), *expected.models)
    judge = Judge.of(expected.frame[inside], replace(plan, models=models))
    refined = refine(initial, expected.places[inside], judge, axes=axes, weights=weights)
    rows = np.bincount(refined.region_of, minlength=len(refined.regions))
    rows[rows < plan.smallest_class] = 0  # of another data set, nobody shall be told who stands alone there
    return replace(bare, regions=refined.regions, masses=np.round(rows * float(each), 3))


def _rows_of_a_class(plan: Plan, slack: float, each: Fraction) -> int:
    """How many rows a region of the target must have, if each of them stands for so many expected ones."""
    wanted = plan.smallest_class * (1 + Fraction(str(slack)))
    return max(plan.smallest_class, math.ceil(wanted / each))


def _expected(
    entry: Mapping[str, Any], plan: Plan, axes: Sequence[Axis], folder: Path, expected_rows: int
) -> _Expected:
    given = [key for key in ("data", "joint", "marginals") if entry.get(key) is not None]
    if not given or (len(given) > 1 and "data" in given):
        raise InputError("target: give either data, or marginals or joint (or both)", code="series-target")
    if "data" in given:
        return _other_data(str(entry["data"]), plan, axes, folder)
    seed = entry.get("seed", 1)
    if type(seed) is not int or seed < 0:
        raise InputError("target: seed must be a whole number of at least 0", code="series-target")
    rows = min(expected_rows, MOST_ROWS)
    places = synthetic_rows(read_frequencies(entry, axes, folder), rows, seed)
    return _Expected(places, pl.DataFrame({"row": np.arange(rows)}))


def _other_data(name: str, plan: Plan, axes: Sequence[Axis], folder: Path) -> _Expected:
    """Another data set as it is; models about its sensitive attributes hold for the target, too."""
    frame = read_table(folder / name).frame
    with Within(f"target: data: {name}"):
        for axis in axes:
            if axis.name not in frame.columns:
                raise InputError(
                    f"lacks the quasi-identifier {axis.name!r}{nearest(axis.name, frame.columns)}",
                    code="series-statistics",
                )
        if not frame.height:
            raise InputError("has no rows", code="series-statistics")
        places = np.stack([axis.place(as_text(frame[axis.name])) for axis in axes], axis=1)
    models = [
        model
        for model in plan.models
        if model.sensitive and model.population_source is None and set(model.sensitive) <= set(frame.columns)
    ]
    return _Expected(places, frame, models)
