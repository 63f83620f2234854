"""The kernels in plain NumPy: the fallback without a compiler, and the oracle for the compiled ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kohorte.kernels.arrays import Bools, Codes, Counts, Floats, Keys

LARGEST_KEY = 2**64 - 1


class Grouper:
    """Groups rows of codes by their generalized codes; the groups are numbered by first appearance."""

    def __init__(self, maps: Sequence[Sequence[Codes]]) -> None:
        self._maps = [[np.array(level, dtype=np.uint32) for level in levels] for levels in maps]
        if any(len(level) != len(levels[0]) for levels in self._maps for level in levels):
            raise ValueError("maps of unequal length")

    def group(self, codes: Codes, weights: Counts, levels: Codes) -> tuple[Codes, Codes, Counts]:
        """Return the group of every row, the first row of every group and the summed weight of every group."""
        if codes.shape != (len(weights), len(self._maps)) or len(levels) != len(self._maps):
            raise ValueError("codes, weights and levels do not fit together")
        ids, groups = np.zeros(len(weights), dtype=np.uint64), 1
        pending: list[Keys] = []
        space = 1
        for attribute, level in enumerate(levels):
            mapped = self._maps[attribute][int(level)]
            cardinality = int(mapped.max(initial=0)) + 1
            if cardinality == 1:
                continue
            if space * cardinality > LARGEST_KEY:
                ids, groups = _renumber(ids, pending)
                pending, space = [], groups
            pending.append(mapped[codes[:, attribute]].astype(np.uint64) * np.uint64(space))
            space *= cardinality
        ids, groups = _renumber(ids, pending)
        first = np.full(groups, len(weights), dtype=np.uint32)
        np.minimum.at(first, ids, np.arange(len(weights), dtype=np.uint32))
        sizes = np.zeros(groups, dtype=np.int64)
        np.add.at(sizes, ids, weights)
        return ids.astype(np.uint32), first, sizes


def _renumber(ids: Keys, pending: list[Keys]) -> tuple[Keys, int]:
    """Pack the pending parts onto the ids and number the results by first appearance."""
    keys = ids
    for part in pending:
        keys = keys + part
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.uint64)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.uint64)
    return order[inverse], len(first)


def best_cover(
    shape: Sequence[int], open: Bools, barred: Bools, score: Floats, upward: bool  # noqa: A002
) -> tuple[int, float]:
    """Return the node that settles most extreme open nodes if it can be excluded, and its gain; -1 if none."""
    is_open = np.asarray(open).reshape(shape).astype(bool)
    if upward:
        is_open = np.flip(is_open)
    extreme = is_open.copy()
    for axis in range(is_open.ndim):
        lower, higher = _neighbours(is_open.ndim, axis)
        extreme[lower] &= ~is_open[higher]
    covered = extreme.astype(np.int32)
    for axis in range(covered.ndim):
        covered = np.cumsum(covered, axis=axis, dtype=np.int32)
    if upward:
        covered = np.flip(covered)
    gain = covered.ravel() * (0.5 * (1.0 + score / np.sqrt(1.0 + score * score)))
    gain[np.asarray(barred, dtype=bool) | (covered.ravel() == 0)] = 0.0
    index = int(np.argmax(gain))
    return (index, float(gain[index])) if gain[index] > 0.0 else (-1, 0.0)


def _neighbours(dimensions: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices of all nodes that have a neighbour above along an axis, and of those neighbours."""
    lower, higher = [slice(None)] * dimensions, [slice(None)] * dimensions
    lower[axis], higher[axis] = slice(0, -1), slice(1, None)
    return tuple(lower), tuple(higher)
