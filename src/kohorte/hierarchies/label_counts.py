"""How many values, rows and people each label of a hierarchy covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class LabelCount:
    """The values of the hierarchy below a label, and the rows and people of the table; None: people are not counted."""

    values: int
    rows: int
    people: int | None


def label_counts(
    rows: Sequence[Sequence[str]], column: pl.Series, people: pl.Series | None
) -> tuple[Mapping[str, LabelCount], ...]:
    """For each level, how much each of its labels covers; `people` says whom each row of the table is about.

    All rows of the hierarchy have the same length; a value that occurs twice counts where it is first.
    """
    names = [str(level) for level in range(len(rows[0]) if rows else 0)]
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    table = table.unique("0", keep="first") if names else table
    cells = pl.DataFrame({"0": column.cast(pl.String).fill_null(""), "person": column if people is None else people})
    joined = cells.join(table, on="0", how="inner") if names else cells
    return tuple(_level(table, joined, name, counted=people is not None) for name in names)


def _level(table: pl.DataFrame, joined: pl.DataFrame, name: str, *, counted: bool) -> dict[str, LabelCount]:
    values = dict(table.group_by(name).len().iter_rows())
    found = joined.group_by(name).agg(pl.len(), pl.col("person").n_unique().alias("people"))
    covered = {label: (rows, people) for label, rows, people in found.iter_rows()}
    counts = {}
    for label, number in values.items():
        rows, people = covered.get(label, (0, 0))
        counts[label] = LabelCount(number, rows, people if counted else None)
    return counts
