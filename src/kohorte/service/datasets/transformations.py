"""Hierarchies for a column of a dataset: redaction and intervals as in PRIORI, and all builders of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies import Bounds, Builder, Intervals, Ordering, Redaction, SafeHarbor, builder_from_dict
from kohorte.hierarchies.decimals import exact_decimals
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import tables
from kohorte.service.datasets.hierarchies import refuse_misfit
from kohorte.service.datasets.records import log_reading

MOST_CELLS = 5_000_000
MOST_ORDERED = 5_000
"""The total length of labels that list their values grows with the square of the number of values."""
USUAL_LEVELS = 10


@dataclass(frozen=True)
class Interval:
    """A labelled interval that includes `least` and excludes `most`."""

    label: str
    least: float
    most: float


def transformed(service: Service, actor: Actor, dataset_id: int, attribute: str, builder: Builder) -> list[list[str]]:
    """Return the rows `[value, level 1, ...]` that a builder makes of the values of a column."""
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
    rows = hierarchy_rows(builder, tables.text_column(service, dataset, attribute))
    log_reading(service, actor, dataset_id, "read-values", values=len(rows))
    return rows


def hierarchy_rows(builder: Builder, column: pl.Series, *, all_values: bool = True) -> list[list[str]]:
    """Return the rows of a hierarchy in the order of their values, without missing values.

    A builder that leaves values of the column out is refused, unless some values are enough.
    """
    values = column.drop_nulls().unique().sort()
    _refuse_large(builder, values)
    if all_values:
        refuse_misfit(builder, column)
    table = builder.build(_in_order(builder, values.to_list()), attribute=column.name).table()
    if isinstance(builder, Redaction):
        table = table.with_columns(pl.lit(builder.mask * (table.width - 1)).alias(table.columns[-1]))
    return [list(row) for row in table.iter_rows()]


def labelled_intervals(intervals: Sequence[Interval], *, decimal: str = ".") -> Intervals:
    """Return the builder of adjacent intervals, given in any order; gaps and overlaps are refused."""
    for number, interval in enumerate(intervals):
        if not interval.least < interval.most:
            raise _wrong(f"intervals[{number}]: min must be below max")
    order = sorted(range(len(intervals)), key=lambda number: intervals[number].least)
    for before, after in pairwise(order):
        if intervals[before].most != intervals[after].least:
            how = "overlaps with" if intervals[before].most > intervals[after].least else "leaves a gap after"
            raise _wrong(f"intervals[{after}]: {how} intervals[{before}]; min must equal the max of the one below")
    bounds: list[Any] = [intervals[number].least for number in order]
    labels = [intervals[number].label for number in order]
    return Intervals(levels=[Bounds([*bounds, intervals[order[-1]].most], labels)], decimal=decimal)


def stated_builder(entry: object, *, populations: str | None = None) -> Builder:
    """Return the builder that is written as in a plan; it cannot refer to files of the server.

    `populations` is the text of the file that `safe_harbor` needs for ZIP codes.
    """
    builder = builder_from_dict(entry, folder=Path())
    if builder.files():
        raise InputError(
            f"{builder.name}: a hierarchy of the service cannot refer to a file; send its content",
            code="hierarchy-option-invalid",
        )
    if populations is None:
        return builder
    if not isinstance(builder, SafeHarbor) or builder.kind != "zip":
        raise InputError("populations: is only for safe_harbor with kind: zip", code="hierarchy-option-invalid")
    return replace(builder, content=populations)


def _in_order(builder: Builder, values: list[str]) -> list[str]:
    if isinstance(builder, Intervals):
        fitting = builder.label(values, attribute="").columns.to_series(0)
        numbers = exact_decimals(fitting, point=builder.decimal, thousands=builder.thousands)
        return [value for _, value in sorted(zip(numbers, fitting.to_list(), strict=True))]
    return values


def _refuse_large(builder: Builder, values: pl.Series) -> None:
    levels, given = USUAL_LEVELS, len(values)
    if isinstance(builder, Ordering):
        levels, given = len(builder.fanouts) + 2, max(given, len(builder.values or ()))
    if isinstance(builder, Redaction):
        longest: Any = values.str.len_chars().max()
        levels = builder.length or longest or 1
    if given * levels > MOST_CELLS or (isinstance(builder, Ordering) and given > MOST_ORDERED):
        raise InputError(
            f"the hierarchy would have {given:,} values and about {levels} levels; the limit is "
            f"{MOST_CELLS:,} labels: let a plan build it, as {{builder: options}}",
            code="hierarchy-too-large",
        )


def _wrong(message: str) -> InputError:
    return InputError(message, code="hierarchy-intervals")
