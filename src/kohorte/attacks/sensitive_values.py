"""Frequencies of the values of sensitive attributes in the classes of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable, numbered


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The cells (class, value) of a sensitive attribute that occur, with their rows; `texts` are the values.

    `told` says for each cell whether its value is known, that is, neither missing nor suppressed. `distinct` counts
    the values of each class, `cell_of_row` is the cell of every row that is not suppressed.
    """

    name: str
    classes: Codes = field(repr=False)
    values: Codes = field(repr=False)
    counts: Counts = field(repr=False)
    told: Bools = field(repr=False)
    distinct: Counts = field(repr=False)
    cell_of_row: Counts = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)


def count_values(table: ShownTable, name: str, codes: Codes, texts: tuple[str | None, ...]) -> ValueCounts:
    """Count the values, given as the code of every row, within the classes."""
    keys = table.class_of.astype(np.int64) * max(1, len(texts)) + codes[table.kept]
    cells, cell_of_row, counts = np.unique(keys, return_inverse=True, return_counts=True)
    classes, values = np.divmod(cells, max(1, len(texts)))
    hidden = [number for number, text in enumerate(texts) if text is None or text == SUPPRESSED]
    return ValueCounts(
        name=name,
        classes=classes.astype(np.uint32),
        values=values.astype(np.uint32),
        counts=counts.astype(np.int64),
        told=~np.isin(values, hidden),
        distinct=np.bincount(classes, minlength=table.classes).astype(np.int64),
        cell_of_row=cell_of_row.astype(np.int64),
        texts=texts,
    )


def sensitive_names(table: pl.DataFrame, plan: Plan) -> tuple[str, ...]:
    """The sensitive attributes that the table has; at least one."""
    names = tuple(name for name in plan.names(Role.SENSITIVE) if name in table.columns)
    if not names:
        raise InputError("the table has no sensitive attribute", code="attack-no-sensitive")
    return names


def sensitive_values(table: pl.DataFrame, shown: ShownTable, plan: Plan) -> Iterator[ValueCounts]:
    """Count all sensitive attributes of a table."""
    for name in sensitive_names(table, plan):
        yield count_values(shown, name, *numbered(as_text(table[name])))
