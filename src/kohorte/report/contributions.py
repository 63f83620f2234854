"""What each quasi-identifier contributes: what it tells apart alone, and how far the risk falls without it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.risks.profile import RiskProfile
from kohorte.risks.shown_table import ShownTable


@dataclass(frozen=True)
class Contribution:
    """One quasi-identifier of a table.

    `separation` is the share of pairs of rows that it alone tells apart; `singles_out` the share of the scores of
    special uniques that comes from sets with it. Without it `uniques_without` rows would be the only ones of their
    kind, and the average risk of a row `average_without`.
    """

    attribute: str
    values: int
    separation: float
    singles_out: float
    uniques_without: int
    average_without: float


def contributions(table: ShownTable, profile: RiskProfile) -> tuple[Contribution, ...]:
    """Look at each quasi-identifier of a table alone, and at the table without it."""
    columns = range(len(table.names))
    return tuple(
        _contribution(table, profile, place, [other for other in columns if other != place]) for place in columns
    )


def _contribution(table: ShownTable, profile: RiskProfile, place: int, others: list[int]) -> Contribution:
    rows = table.kept_rows
    _, alone = table.by([place])
    _, without = table.by(others)
    pairs = rows * (rows - 1)
    return Contribution(
        attribute=table.names[place],
        values=len(alone),
        separation=1 - int((alone * (alone - 1)).sum()) / pairs if pairs else 0.0,
        singles_out=profile.special_uniques.contributions.get(table.names[place], 0.0),
        uniques_without=int(np.count_nonzero(without == 1)),
        average_without=len(without) / rows if rows else 0.0,
    )


def information(column: pl.Series) -> float:
    """The entropy of what a column shows, in bits; a star tells nothing and counts as one value."""
    counts = as_text(column).alias("value").to_frame().group_by("value").len()["len"].to_numpy()
    shares = counts / max(counts.sum(), 1)
    return abs(float((shares * np.log2(shares)).sum()))


def information_kept(before: pl.Series, after: pl.Series) -> float | None:
    """The share of the entropy of a column that its released form still has; None where there was none."""
    whole = information(before)
    return min(1.0, information(after) / whole) if not math.isclose(whole, 0.0, abs_tol=1e-12) else None
