"""The remedy for several sensitive attributes that go together.

Where a class is l-diverse in each of two sensitive attributes, whoever can exclude a value of one may still learn the
other. So one of them stays whole, and the others are suppressed in so many rows of each of its values that they tell
little about it: in ceil((1 - 1/l) * t) of the t rows that a value has in a class.
"""

from __future__ import annotations

import secrets

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.hierarchy import SUPPRESSED
from kohorte.release.plan import Plan

CELL, PLACE, SUPPRESS = "\0cell", "\0place", "\0suppress"


def decorrelate(data: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Suppress the other sensitive attributes in as many rows as the plan asks for, chosen by chance."""
    remedy = plan.decorrelate
    if remedy is None:
        return data
    generator = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
    cells = _cells(data, plan).with_columns(pl.Series(PLACE, generator.permutation(data.height)))
    within = (
        cells.with_row_index("\0row")
        .sort(CELL, PLACE)
        .with_columns(
            (pl.int_range(pl.len()).over(CELL) < needed(pl.len().over(CELL), remedy.l)).alias(SUPPRESS),
        )
        .sort("\0row")[SUPPRESS]
    )
    stars = pl.Series([SUPPRESSED]).new_from_index(0, data.height)
    return data.with_columns(
        stars.zip_with(within, as_text(data[name])).alias(name) for name in plan.decorrelated_attributes
    )


def needed(rows: pl.Expr, l: int) -> pl.Expr:  # noqa: E741 - the published letter
    """ceil((1 - 1/l) * rows)."""
    return (rows.cast(pl.Int64) * (l - 1) + (l - 1)) // l


def problems(data: pl.DataFrame, plan: Plan) -> list[str]:
    """Say in how many classes too few values are suppressed."""
    remedy = plan.decorrelate
    if remedy is None:
        return []
    others = [name for name in plan.decorrelated_attributes if name in data.columns]
    if not others or remedy.attribute not in data.columns:
        return []
    stars = [as_text(data[name]) == SUPPRESSED for name in others]
    starred = pl.DataFrame(stars).select(pl.all_horizontal(pl.all().fill_null(value=False))).to_series().alias(SUPPRESS)
    counted = (
        _cells(data, plan)
        .with_columns(starred)
        .group_by(CELL)
        .agg(pl.len().alias("\0rows"), pl.col(SUPPRESS).sum().alias("\0found"))
    )
    short = counted.filter(pl.col("\0found") < needed(pl.col("\0rows"), remedy.l)).height
    if not short:
        return []
    return [
        f"{short:,} times a value of {remedy.attribute!r} in a class goes with too many other sensitive values "
        f"(decorrelate with l = {remedy.l})"
    ]


def _cells(data: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Number the values of the attribute that stays whole, class by class."""
    assert plan.decorrelate is not None
    names = [*plan.names(Role.QUASI_IDENTIFYING), plan.decorrelate.attribute]
    keys = pl.DataFrame([as_text(data[name]) for name in names])
    return keys.select(pl.struct(pl.all()).rank("dense").alias(CELL))
