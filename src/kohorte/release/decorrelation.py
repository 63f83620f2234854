"""Protection of several sensitive attributes that are correlated.

If a class is l-diverse in each of two sensitive attributes, a person who can exclude a value of one may still learn the
other. Therefore one attribute is released completely. For each of its values, with t rows in a class, the others are
suppressed in ceil((1 - 1/l) * t) rows, so that they reveal little about it. Where people are counted, so it is for t
people as well: otherwise somebody with many rows of a value would nearly always show a row with the others.
"""

from __future__ import annotations

import secrets

import numpy as np
import polars as pl

from kohorte.data import Role, as_text, person_keys
from kohorte.hierarchies import SUPPRESSED
from kohorte.plans.plan import Plan
from kohorte.sources import COUNT, TableSource

CELL, POSITION, SUPPRESS = "\0cell", "\0position", "\0suppress"
HIDDEN, WHOM = "\0hidden", "\0whom"


def decorrelate(data: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Suppress the other sensitive attributes in as many rows, and for as many people, as the plan requires, at random.

    Where people are counted, the table still has the columns that say whom a row is about.
    """
    remedy = plan.decorrelate
    if remedy is None:
        return data
    generator = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
    cells = _cells(data, plan).with_columns(pl.Series(POSITION, generator.permutation(data.height)))
    hidden = _hidden_people(cells, data, plan, generator).alias(HIDDEN)
    within = (
        cells.with_columns(hidden)
        .with_row_index("\0row")
        .sort(CELL, ~pl.col(HIDDEN), POSITION)
        .with_columns(
            (pl.int_range(pl.len()).over(CELL) < needed(pl.len().over(CELL), remedy.l)).alias(SUPPRESS)
            | pl.col(HIDDEN),
        )
        .sort("\0row")[SUPPRESS]
    )
    stars = pl.Series([SUPPRESSED]).new_from_index(0, data.height)
    return data.with_columns(
        stars.zip_with(within, as_text(data[name])).alias(name) for name in plan.decorrelated_attributes
    )


def _hidden_people(cells: pl.DataFrame, data: pl.DataFrame, plan: Plan, generator: np.random.Generator) -> pl.Series:
    """Tell for each row whether nothing but its value is shown of its person, in its class."""
    assert plan.decorrelate is not None
    if not plan.unit.counts_people:
        return pl.Series(np.zeros(data.height, dtype=bool))
    whom = person_keys([as_text(data[name]) for name in plan.unit.columns]).alias(WHOM)
    rows = cells.select(CELL).with_columns(whom)
    people = rows.unique()
    people = people.with_columns(pl.Series(POSITION, generator.permutation(people.height))).sort(CELL, POSITION)
    hidden = pl.int_range(pl.len()).over(CELL) < needed(pl.len().over(CELL), plan.decorrelate.l)
    found = rows.join(
        people.with_columns(hidden.alias(HIDDEN)), on=[CELL, WHOM], how="left", nulls_equal=True, maintain_order="left"
    )
    return found[HIDDEN]


def needed(rows: pl.Expr, l: int) -> pl.Expr:  # noqa: E741 - the published letter
    """ceil((1 - 1/l) * rows)."""
    return (rows.cast(pl.Int64) * (l - 1) + (l - 1)) // l


def problems(table: TableSource, plan: Plan) -> list[str]:
    """Say how often too few values are suppressed."""
    remedy = plan.decorrelate
    if remedy is None:
        return []
    others = [name for name in plan.decorrelated_attributes if name in table.columns]
    if not others or remedy.attribute not in table.columns:
        return []
    data = table.count_shown([*plan.quasi_identifiers, remedy.attribute, *others])
    stars = [data[name] == SUPPRESSED for name in others]
    starred = pl.DataFrame(stars).select(pl.all_horizontal(pl.all().fill_null(value=False))).to_series().alias(SUPPRESS)
    counted = (
        _cells(data, plan)
        .with_columns(starred, data[COUNT])
        .group_by(CELL)
        .agg(pl.col(COUNT).sum().alias("\0rows"), pl.col(COUNT).filter(pl.col(SUPPRESS)).sum().alias("\0found"))
    )
    short = counted.filter(pl.col("\0found") < needed(pl.col("\0rows"), remedy.l)).height
    if not short:
        return []
    return [
        f"{short:,} times a value of {remedy.attribute!r} in a class goes with too many other sensitive values "
        f"(decorrelate with l = {remedy.l})"
    ]


def _cells(data: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Number the pairs of a class and a value of the attribute that is released completely."""
    assert plan.decorrelate is not None
    names = [*plan.names(Role.QUASI_IDENTIFYING), plan.decorrelate.attribute]
    keys = pl.DataFrame([as_text(data[name]) for name in names])
    return keys.select(pl.struct(pl.all()).rank("dense").alias(CELL))
