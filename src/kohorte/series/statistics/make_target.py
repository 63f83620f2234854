"""Making a target from outside statistics: the regions into which the expected rows could be released.

A region of the target has at least k * (1 + slack) of the expected rows, because the actual rows will differ from the
expected ones. The target only steers splits: it never allows one that the models forbid.

Source: European patent application EP 4 404 095 A1, "Anonymisieren von Daten", 2024, paragraphs 0082 to 0087.
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
from kohorte.plans.parts import Within
from kohorte.plans.plan import Plan
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import OUTSIDE, Positions, Regions
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.splitting.refine import refine
from kohorte.series.statistics.frequencies import read_frequencies
from kohorte.series.statistics.synthetic import synthetic_rows
from kohorte.series.target.target import Target

MOST_ROWS = 1_000_000
"""The largest number of drawn rows; if more are expected, each stands for several. It bounds time and memory."""


@dataclass(frozen=True, eq=False)
class _Expected:
    """Rows like the expected ones, and the models that hold for them besides the number of rows."""

    positions: Positions = field(repr=False)
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
    """Make a target from the settings; it is finer than the initial regions."""
    options = {key: entry[key] for key in ("slack", "size", "tolerance", "policy") if entry.get(key) is not None}
    bare = Target(initial, np.zeros(len(initial)), entry.get("expected_rows", 0), **options)
    if bare.expected_rows < plan.smallest_class:
        raise InputError(
            f"target: expected_rows must be at least {plan.smallest_class:,}, the fewest rows of a region",
            code="series-target",
        )
    expected = _expected(entry, plan, axes, folder, bare.expected_rows)
    inside = np.flatnonzero((expected.positions != OUTSIDE).all(axis=1))
    if not len(inside):
        raise InputError("target: no expected row lies in the domain of the series", code="series-target")
    each = Fraction(bare.expected_rows, len(expected.positions))
    models = (KAnonymity(_rows_of_a_class(plan, bare.slack, each)), *expected.models)
    check = GroupCheck.of(expected.frame[inside], replace(plan, models=models, person=None))  # as many rows as people
    refined = refine(initial, expected.positions[inside], check, axes=axes, weights=weights)
    rows = np.bincount(refined.region_of, minlength=len(refined.regions))
    rows[rows < plan.smallest_class] = 0  # small counts of another data set could tell about single people in it
    return replace(bare, regions=refined.regions, masses=np.round(rows * float(each), 3))


def _rows_of_a_class(plan: Plan, slack: float, each: Fraction) -> int:
    """How many rows a region of the target must have, if each of them stands for `each` expected rows."""
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
    positions = synthetic_rows(read_frequencies(entry, axes, folder), rows, seed)
    return _Expected(positions, pl.DataFrame({"row": np.arange(rows)}))


def _other_data(name: str, plan: Plan, axes: Sequence[Axis], folder: Path) -> _Expected:
    """Take another data set as it is; models about its sensitive attributes hold for the target as well."""
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
        positions = np.stack([axis.positions(as_text(frame[axis.name])) for axis in axes], axis=1)
    models = [
        model
        for model in plan.models
        if model.sensitive and model.population_source is None and set(model.sensitive) <= set(frame.columns)
    ]
    return _Expected(positions, frame, models)
