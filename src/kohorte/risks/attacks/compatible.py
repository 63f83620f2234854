"""Which classes of one table can hold the same people as which classes of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Codes
from kohorte.release.plan import Plan
from kohorte.risks.attacks.meaning import Overlap, overlap
from kohorte.risks.shown_table import ShownTable

MOST_PAIRS = 20_000_000
MOST_COMPARISONS = 4_000_000_000
BLOCK = 20_000_000


def overlaps(left: ShownTable, right: ShownTable, plan: Plan, *, right_are_values: bool = False) -> list[Overlap]:
    """Compare the cells of two tables, column by column; they have the same columns."""
    return [
        overlap(one, other, plan.attributes[name].hierarchy, attribute=name, right_are_values=right_are_values)
        for name, one, other in zip(left.names, left.texts, right.texts, strict=True)
    ]


def compatible_classes(left: ShownTable, right: ShownTable, columns: Sequence[Overlap]) -> tuple[Codes, Codes]:
    """All pairs of a class on the left and a class on the right whose cells overlap in every column."""
    functions = [column.function for column in columns]
    if all(function is not None for function in functions):
        return _joined(left, right, [function for function in functions if function is not None])
    if left.classes * right.classes > MOST_COMPARISONS:
        raise InputError(
            f"{left.classes:,} classes would have to be compared with {right.classes:,} one by one; try a part of the "
            "rows",
            code="attack-too-large",
        )
    return _compared(left, right, [column.matrix for column in columns])


def _joined(left: ShownTable, right: ShownTable, functions: Sequence[Codes]) -> tuple[Codes, Codes]:
    """Where each cell on the right goes with one on the left, the classes are looked up."""
    names = [str(number) for number in range(len(functions))]
    ours = pl.DataFrame(dict(zip(names, left.cells.T, strict=True))).with_row_index("left")
    theirs = {name: function[cells] for name, function, cells in zip(names, functions, right.cells.T, strict=True)}
    found = pl.DataFrame(theirs).with_row_index("right").join(ours, on=names, maintain_order="left")
    return found["left"].to_numpy(), found["right"].to_numpy()


def _compared(left: ShownTable, right: ShownTable, matrices: Sequence[Bools]) -> tuple[Codes, Codes]:
    """Compare all classes with all, some of them at a time."""
    block = max(1, BLOCK // max(1, right.classes))
    lefts, rights, count = [], [], 0
    for start in range(0, left.classes, block):
        cells = left.cells[start : start + block]
        fits = np.ones((len(cells), right.classes), dtype=bool)
        for matrix, own, other in zip(matrices, cells.T, right.cells.T, strict=True):
            fits &= matrix[own][:, other]
        found_left, found_right = np.nonzero(fits)
        count += len(found_left)
        if count > MOST_PAIRS:
            raise InputError("too many classes of the two tables can belong together", code="attack-too-large")
        lefts.append(found_left + start)
        rights.append(found_right)
    empty = [np.empty(0, dtype=np.int64)]
    return np.concatenate([*empty, *lefts]).astype(np.uint32), np.concatenate([*empty, *rights]).astype(np.uint32)
