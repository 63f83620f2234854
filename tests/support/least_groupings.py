"""The least loss that any grouping of a small table has, without a line of the package.

A group of 2k rows or more can be divided into two groups of at least k rows, whose cells cover no more than before. So
an optimum has groups of k to 2k - 1 rows only, and is found among partitions into those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array


class Measured(NamedTuple):
    """A column of numbers, by their ranks: a cell is the interval that it spans."""

    ranks: tuple[int, ...]
    steps: int


class Named(NamedTuple):
    """A column of categories, as numbers: a cell is the set of those that occur."""

    codes: tuple[int, ...]
    steps: int


Column = Measured | Named


def columns_of(table: dict[str, list[str]]) -> list[Column]:
    """The columns of a table: whole numbers are measured, everything else is named."""
    found: list[Column] = []
    for values in table.values():
        measured = all(value.lstrip("-").isdigit() for value in values)
        order = sorted(set(values), key=int) if measured else sorted(set(values))
        codes = tuple(order.index(value) for value in values)
        kind = Measured if measured else Named
        found.append(kind(codes, max(1, len(order) - 1)))
    return found


def loss(columns: Sequence[Column], rows: Sequence[int]) -> float:
    """What a group of rows loses: the sum over its rows of the mean share of the domain that their cells cover."""
    total = 0.0
    for column in columns:
        values = {column[0][row] for row in rows}
        apart = max(values) - min(values) if isinstance(column, Measured) else len(values) - 1
        total += apart / column.steps
    return len(rows) * total / len(columns)


def groups_of(rows: int, k: int) -> Iterator[tuple[int, ...]]:
    """All groups of k to 2k - 1 rows."""
    for size in range(k, min(2 * k - 1, rows) + 1):
        yield from combinations(range(rows), size)


def by_subsets(columns: Sequence[Column], k: int) -> float:
    """The least mean loss, from the best way to group each subset of the rows: for a dozen rows.

    The group of the first row that is not yet in one comes next, so that every partition is seen once.
    """
    rows = len(columns[0][0])
    beginning_with: list[list[tuple[int, float]]] = [[] for _ in range(rows)]
    for group in groups_of(rows, k):
        beginning_with[group[0]].append((sum(1 << row for row in group), loss(columns, group)))
    best = [float("inf")] * (1 << rows)
    best[0] = 0.0
    for done in range((1 << rows) - 1):
        if best[done] == float("inf"):
            continue
        first = (~done & (done + 1)).bit_length() - 1
        for group, cost in beginning_with[first]:
            if not group & done and best[done] + cost < best[done | group]:
                best[done | group] = best[done] + cost
    return best[-1] / rows


def by_integer_program(columns: Sequence[Column], k: int, known: float) -> float:
    """The least mean loss, as a set partitioning problem that HiGHS solves to the optimum: for up to 24 rows.

    `known` is the mean loss of some grouping. A group is in no better one if its reduced cost in the relaxed problem
    exceeds what is between the relaxed optimum and the known loss; such groups are left out before the integer problem.
    """
    rows = len(columns[0][0])
    sizes = range(k, min(2 * k - 1, rows) + 1)
    by_size = [np.array(list(combinations(range(rows), size))) for size in sizes]
    costs = np.concatenate([_losses(columns, groups) for groups in by_size])
    members = np.concatenate([groups.reshape(-1) for groups in by_size])
    lengths = np.repeat(sizes, [len(groups) for groups in by_size])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    matrix = csc_array((np.ones(len(members)), members, ends), shape=(rows, len(costs)))
    relaxed = linprog(costs, A_eq=matrix, b_eq=np.ones(rows), bounds=(0, None), method="highs")
    assert relaxed.success, relaxed.message
    between = known * rows - relaxed.fun + 1e-7
    needed = np.flatnonzero(costs - matrix.T @ relaxed.eqlin.marginals <= between)
    found = milp(
        costs[needed],
        integrality=np.ones(len(needed)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix[:, needed], 1, 1),
        options={"mip_rel_gap": 0.0},
    )
    assert found.success, found.message
    return float(found.fun) / rows


def _losses(columns: Sequence[Column], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """What groups of the same size lose."""
    total = np.zeros(len(groups))
    for column in columns:
        values = np.sort(np.array(column[0])[groups], axis=1)
        if isinstance(column, Measured):
            apart = values[:, -1] - values[:, 0]
        else:
            apart = (np.diff(values, axis=1) > 0).sum(axis=1)
        total += apart / column.steps
    return groups.shape[1] * total / len(columns)
