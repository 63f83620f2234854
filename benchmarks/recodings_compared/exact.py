"""How far from the best possible: exact optima of small tables, and lower bounds that are proven for large ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]
from scipy.sparse import csc_array  # type: ignore[import-untyped]

from benchmarks.recodings_compared.space import Space

AT_ONCE = 400_000_000
"""How many distances are in memory at once, divided by the number of columns."""


def optimum(space: Space, k: int) -> float:
    """The least mean loss of all groupings of a small table: a set partitioning problem, solved by HiGHS.

    Groups of 2k rows or more are not needed: divided in two, their cells cover no more.
    """
    groups = [
        group for size in range(k, min(2 * k - 1, space.rows) + 1) for group in combinations(range(space.rows), size)
    ]
    costs = np.array([len(group) * space.cost(np.array(group)) for group in groups])
    ends = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    members = np.concatenate([np.array(group) for group in groups])
    matrix = csc_array((np.ones(len(members)), members, ends), shape=(space.rows, len(groups)))
    found = milp(
        costs,
        integrality=np.ones(len(groups)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, 1, 1),
        options={"mip_rel_gap": 0.0},
    )
    if not found.success:
        raise RuntimeError(found.message)
    return float(found.fun) / space.rows


def lower_bounds(space: Space, classes: tuple[int, ...]) -> dict[int, float]:
    """For each k, a loss that no grouping of the rows can go below.

    A row is with at least k - 1 others in its class, and its cells cover each of them and itself. So they cost it at
    least what a cell that covers the row and one other costs, for the farthest of the others, which is at least as far
    as the row's (k - 1)-nearest one. The bound is the mean of these costs. Equal rows are counted once, with weights.
    """
    places, first, counts = np.unique(space.places, axis=0, return_index=True, return_counts=True)
    low, high = (ends[first].astype(np.float32) for ends in space.ends)
    names, steps = space.names[first], space.steps.astype(np.float32)
    kinds, most = len(places), max(classes)
    totals = dict.fromkeys(classes, 0.0)
    step = max(1, AT_ONCE // 16 // kinds)
    for start in range(0, kinds, step):
        some = slice(start, min(kinds, start + step))
        apart = np.zeros((some.stop - start, kinds), dtype=np.float32)
        for axis in range(low.shape[1]):
            apart += np.maximum(high[some, axis, None], high[:, axis])
            apart -= np.minimum(low[some, axis, None], low[:, axis])
        for axis in range(names.shape[1]):
            apart += (names[some, axis, None] != names[:, axis]) * steps[axis]
        near = np.argpartition(apart, min(most, kinds - 1), axis=1)[:, : most + 1]
        distances = np.take_along_axis(apart, near, axis=1)
        order = np.argsort(distances, axis=1, kind="stable")
        distances = np.take_along_axis(distances, order, axis=1)
        reached = np.cumsum(np.take_along_axis(counts[near], order, axis=1), axis=1)  # rows so near, itself included
        for k in classes:
            at = (reached < k).sum(axis=1)
            costs = np.take_along_axis(distances, at[:, None], axis=1)[:, 0]
            totals[k] += float((costs.astype(np.float64) * counts[some]).sum())
    return {k: total / space.rows for k, total in totals.items()}
