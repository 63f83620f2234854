"""Which classes of two tables can contain the same people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.kernels.arrays import Codes
from kohorte.plans.plan import Plan
from kohorte.risks.shown.meaning import Overlap, overlap
from kohorte.risks.shown.table import ShownTable

Words: TypeAlias = NDArray[np.uint64]
Pairs: TypeAlias = tuple[Codes, Codes]

MOST_PAIRS = 20_000_000
MOST_WORDS = 2_000_000_000
"""The limit for comparisons, in words of 64 classes; a billion takes about ten seconds."""
MOST_WORDS_KEPT = 100_000_000
BLOCK = 4_000_000


def overlaps(left: ShownTable, right: ShownTable, plan: Plan, *, right_are_values: bool = False) -> list[Overlap]:
    """Compare the cells of two tables with the same columns, column by column."""
    return [
        overlap(one, other, plan.attributes[name].hierarchy, attribute=name, right_are_values=right_are_values)
        for name, one, other in zip(left.names, left.texts, right.texts, strict=True)
    ]


def compatible_classes(left: ShownTable, right: ShownTable, columns: Sequence[Overlap]) -> Pairs:
    """All pairs of a class on the left and a class on the right whose cells overlap in every column."""
    lefts, rights, count = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.uint32)], 0
    for one, other in compatible_blocks(left, right, columns):
        count += len(one)
        if count > MOST_PAIRS:
            raise InputError("too many pairs of classes of the two tables match", code="attack-too-large")
        lefts.append(one)
        rights.append(other)
    return np.concatenate(lefts), np.concatenate(rights)


def compatible_blocks(left: ShownTable, right: ShownTable, columns: Sequence[Overlap]) -> Iterator[Pairs]:
    """The same pairs in blocks, so that any number of them can be counted."""
    functions = [column.function for column in columns]
    if all(function is not None for function in functions):
        yield _joined(left, right, [function for function in functions if function is not None])
    elif left.classes and right.classes:
        yield from _compared(left, right, columns)


def _joined(left: ShownTable, right: ShownTable, functions: Sequence[Codes]) -> Pairs:
    """Join the classes, if each cell on the right matches exactly one on the left."""
    names = [str(number) for number in range(len(functions))]
    ours = pl.DataFrame(dict(zip(names, left.cells.T, strict=True))).with_row_index("left")
    theirs = {name: function[cells] for name, function, cells in zip(names, functions, right.cells.T, strict=True)}
    found = pl.DataFrame(theirs).with_row_index("right").join(ours, on=names, maintain_order="left")
    return found["left"].to_numpy(), found["right"].to_numpy()


def _compared(left: ShownTable, right: ShownTable, columns: Sequence[Overlap]) -> Iterator[Pairs]:
    """Intersect, column by column, the sets of classes on the left that match a cell on the right.

    A set has one bit for each class. The classes on the right are sorted, so that those with the same first cells are
    processed together; columns with few different cells come first.
    """
    words = -(-left.classes // 64)
    kept = words * sum(len(texts) for texts in right.texts)
    if right.classes * words > MOST_WORDS or kept > MOST_WORDS_KEPT:
        raise InputError(
            f"{left.classes:,} classes would have to be compared with {right.classes:,}, which takes too long; try a "
            "part of the rows",
            code="attack-too-large",
        )
    few_first = sorted(range(len(columns)), key=lambda number: len(right.texts[number]))
    fitting = [_fitting(columns[number], left.cells[:, number], words) for number in few_first]
    cells = right.cells[:, few_first]
    order = np.lexsort(cells.T[::-1])
    size = max(1, BLOCK // words)
    for start in range(0, len(order), size):
        here = order[start : start + size]
        yield _members(_intersected(fitting, cells[here]), here)


def _fitting(column: Overlap, cells: Codes, words: int) -> Words:
    """For every cell on the right, the set of matching classes on the left."""
    matrix = column.matrix
    found = np.zeros((matrix.shape[1], words * 8), dtype=np.uint8)
    size = max(1, 16 * BLOCK // len(cells))
    for start in range(0, matrix.shape[1], size):
        packed = np.packbits(matrix[:, start : start + size][cells], axis=0, bitorder="little")
        found[start : start + size, : len(packed)] = packed.T
    return found.view("<u8")


def _intersected(fitting: Sequence[Words], cells: Codes) -> Words:
    """The set of classes for every row of (sorted) cells."""
    begins = np.zeros(len(cells), dtype=bool)
    begins[0] = True
    group = np.zeros(len(cells), dtype=np.int64)
    sets = np.full((1, fitting[0].shape[1]), np.iinfo(np.uint64).max)
    for sets_of_cell, column in zip(fitting, cells.T, strict=True):
        begins[1:] |= column[1:] != column[:-1]
        first = np.flatnonzero(begins)
        sets = sets[group[first]] & sets_of_cell[column[first]]
        group = np.cumsum(begins) - 1
    return sets[group] if len(sets) < len(cells) else sets


def _members(sets: Words, numbers: NDArray[np.intp]) -> Pairs:
    """The classes in each set, with the number of the set."""
    rows, words = np.nonzero(sets)
    bits = np.unpackbits(sets[rows, words].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    found, bit = np.nonzero(bits)
    return (words[found] * 64 + bit).astype(np.uint32), numbers[rows[found]].astype(np.uint32)
