"""The contribution of each quasi-identifier: what it distinguishes alone, and the risk without it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.kernels.distinct import distinct_numbers
from kohorte.recoding import Recoding
from kohorte.risks.profile import RiskProfile

ALMOST_ALL = math.nextafter(1.0, 0.0)
"""What is kept at most if a cell changed."""


@dataclass(frozen=True)
class Contribution:
    """One quasi-identifier of a table.

    `separation` is the share of pairs of rows that differ in it; `singles_out` the share of the scores of special
    uniques that comes from sets with it. Without it `uniques_without` rows would be unique, and the average risk of a
    row would be `average_without`. Where people are counted, all of this is about people, as in the risk profile.
    """

    attribute: str
    values: int
    separation: float
    singles_out: float
    uniques_without: int
    average_without: float


def contributions(profile: RiskProfile) -> tuple[Contribution, ...]:
    """Assess each quasi-identifier of a table alone, and the table without it."""
    columns = range(len(profile.quasi_identifiers))
    return tuple(_contribution(profile, column, [other for other in columns if other != column]) for column in columns)


def _contribution(profile: RiskProfile, column: int, others: list[int]) -> Contribution:
    groups, name = profile.alike, profile.quasi_identifiers[column]
    risks = np.asarray(1 / np.maximum(groups.sizes_by(others), 1), dtype=np.float64)
    return Contribution(
        attribute=name,
        values=len(distinct_numbers(profile.shown.cells[:, column])),
        separation=groups.split([column]).separation,
        singles_out=profile.special_uniques.contributions.get(name, 0.0),
        uniques_without=groups.different(groups.split(others).alone),
        average_without=float(risks @ groups.at_highest(risks)) / groups.count if groups.count else 0.0,
    )


def information(*columns: pl.Series) -> float:
    """The entropy of the cells of one or more columns together, in bits."""
    counts = pl.DataFrame([as_text(one).alias(str(at)) for at, one in enumerate(columns)]).group_by(pl.all()).len()
    shares = counts["len"].to_numpy() / max(counts["len"].sum(), 1)
    return abs(float((shares * np.log2(shares)).sum()))


def information_kept(before: pl.Series, after: pl.Series, suppressed: pl.Series | None = None) -> float | None:
    """The share of the entropy of a column that its released form still has; None if the column had none.

    Equal values must look equal in the release, or `recoded_information_kept` is right. A suppressed row shows nothing,
    so only the other rows count. It is 1 only if no cell lost anything.
    """
    shown = after if suppressed is None else after.filter(~suppressed)
    return _share_kept(before, after, information(shown), len(shown))


def recoded_information_kept(before: pl.Series, after: pl.Series, recoding: Recoding) -> float | None:
    """The same for a release in which equal values may look different: what is shown tells about the value.

    This is the mutual information of values and cells. The entropy of the cells alone can exceed that of the values:
    cells also differ because of other columns.
    """
    cells = next(one for one in recoding.columns if one.line.column.name == before.name)
    value, cell = (pl.Series(some[recoding.kept]) for some in (cells.line.column.codes, cells.kinds))
    told = information(value) + information(cell) - information(value, cell)
    return _share_kept(before, after, told, len(value))


def _share_kept(before: pl.Series, after: pl.Series, told: float, rows: int) -> float | None:
    """The share that is kept if the cells of `rows` rows tell so many bits about the value of each."""
    whole = information(before)
    if math.isclose(whole, 0.0, abs_tol=1e-12):
        return None
    if rows == before.len() and _same_values(before, after):
        return 1.0
    kept = told * rows / max(len(after), 1) / whole
    return 0.0 if math.isclose(kept, 0.0, abs_tol=1e-12) else min(kept, ALMOST_ALL)


def _same_values(before: pl.Series, after: pl.Series) -> bool:
    """Whether both columns have the same values equally often."""
    return bool((as_text(before).sort() == as_text(after).alias(before.name).sort()).fill_null(value=True).all()) and (
        before.null_count() == after.null_count()
    )
