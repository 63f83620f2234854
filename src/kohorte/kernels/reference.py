"""The kernels in NumPy: used without compiled kernels, and to test them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Codes, Counts, Flags, Floats, Keys

LARGEST_KEY = 2**64 - 1


class Rows:
    """Rows of codes that a Grouper has checked."""

    def __init__(self, codes: Codes, owner: Grouper) -> None:
        self.codes = codes
        self.owner = owner

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, selected: Codes) -> Rows:
        """Return the selected rows, in the given order."""
        return Rows(self.codes[selected], self.owner)


class Grouper:
    """Groups rows of codes by their generalized codes; the groups are numbered by first appearance."""

    def __init__(self, maps: Sequence[Sequence[Codes]]) -> None:
        self._maps = [[np.array(level, dtype=np.uint32) for level in levels] for levels in maps]
        if any(len(level) != len(levels[0]) for levels in self._maps for level in levels):
            raise ValueError("maps of unequal length")

    def pack(self, codes: Codes) -> Rows:
        """Return the rows in the form that `group` takes."""
        if codes.shape[1] != len(self._maps):
            raise ValueError("not whole rows")
        for attribute, levels in enumerate(self._maps):
            if len(codes) and int(codes[:, attribute].max()) >= len(levels[0]):
                raise ValueError("a code without a map")
        return Rows(codes.copy(), self)

    def unpack(self, rows: Rows) -> Codes:
        """Return the codes of rows."""
        return rows.codes.copy()

    def group(self, rows: Rows, weights: Counts, levels: Codes, want_ids: bool) -> tuple[Codes, Codes, Counts]:
        """Return the group of every row (if `want_ids`), the first row and the total weight of every group."""
        packed = rows.codes
        if rows.owner is not self:
            raise ValueError("rows of another table")
        if packed.shape != (len(weights), len(self._maps)) or len(levels) != len(self._maps):
            raise ValueError("rows, weights and levels do not fit together")
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
            pending.append(mapped[packed[:, attribute]].astype(np.uint64) * np.uint64(space))
            space *= cardinality
        ids, groups = _renumber(ids, pending)
        first = np.full(groups, len(weights), dtype=np.uint32)
        np.minimum.at(first, ids, np.arange(len(weights), dtype=np.uint32))
        sizes = np.zeros(groups, dtype=np.int64)
        np.add.at(sizes, ids, weights)
        return ids.astype(np.uint32) if want_ids else np.empty(0, dtype=np.uint32), first, sizes

    def cells(
        self, rows: Rows, weights: Counts, levels: Codes, attribute: int
    ) -> tuple[Codes, Counts, Counts, Codes, Counts, Codes]:
        """Group rows, and count the values of an attribute in each group; the attribute must be at its `*` level.

        Return the first row and the size of every group; where the cells of each group start, and their number; the
        value, the count and the first row of every cell. Cells are sorted by group, then by first appearance.
        """
        if not 0 <= attribute < len(self._maps):
            raise ValueError("no such attribute")
        ids, first, sizes = self.group(rows, weights, levels, True)
        values = rows.codes[:, attribute]
        keys = ids.astype(np.uint64) * np.uint64(len(self._maps[attribute][0])) + values
        cell_of, cells = _renumber(keys, [])
        first_rows = np.full(cells, len(weights), dtype=np.uint32)
        np.minimum.at(first_rows, cell_of, np.arange(len(weights), dtype=np.uint32))
        counts = np.zeros(cells, dtype=np.int64)
        np.add.at(counts, cell_of, weights)
        order = np.argsort(ids[first_rows], kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(ids[first_rows], minlength=len(sizes)))).astype(np.int64)
        first_rows = first_rows[order]
        return first, sizes, starts, values[first_rows], counts[order], first_rows


class Shelf:
    """A bounded list of nodes; when it is full, a new node replaces the least recently used one."""

    def __init__(self, axes: int, places: int) -> None:
        if axes == 0 or places == 0:
            raise ValueError("a shelf without places")
        self._axes, self._places = axes, places
        self._nodes: list[tuple[int, ...]] = []
        self._rows: list[int] = []
        self._used: list[int] = []
        self._clock = 0

    def find(self, node: Sequence[int]) -> int:
        """Return the index of the smallest node at or below a node, or -1; the node counts as used."""
        self._check(node)
        below = [
            place
            for place, other in enumerate(self._nodes)
            if all(low <= high for low, high in zip(other, node, strict=True))
        ]
        found = min(below, key=self._rows.__getitem__, default=-1)
        if found >= 0:
            self._clock += 1
            self._used[found] = self._clock
        return found

    def put(self, node: Sequence[int], rows: int) -> int:
        """Store a node, and return its index."""
        self._check(node)
        place = len(self._nodes)
        if place < self._places:
            self._nodes.append(())
            self._rows.append(0)
            self._used.append(0)
        else:
            place = self._used.index(min(self._used))
        self._clock += 1
        self._nodes[place], self._rows[place], self._used[place] = tuple(node), rows, self._clock
        return place

    def _check(self, node: Sequence[int]) -> None:
        if len(node) != self._axes:
            raise ValueError("one level per attribute, please")


class Job:
    """Work that is done when its result is needed."""

    def __init__(self, work: Callable[[], tuple[Any, ...]]) -> None:
        self._work = work

    def result(self) -> tuple[Any, ...]:
        """Do the work and return its result."""
        return self._work()


class Workers:
    """The interface of a pool of threads; here the calling thread does the work."""

    def __init__(self, count: int) -> None:
        del count

    def group(self, grouper: Grouper, rows: Rows, weights: Counts, levels: Codes) -> Job:
        """Start to group rows, as `Grouper.group` does without ids."""
        return Job(lambda: grouper.group(rows, weights, levels, False))

    def cells(self, grouper: Grouper, rows: Rows, weights: Counts, levels: Codes, attribute: int) -> Job:
        """Start to count the values of an attribute, as `Grouper.cells` does."""
        return Job(lambda: grouper.cells(rows, weights, levels, attribute))


def _renumber(ids: Keys, pending: list[Keys]) -> tuple[Keys, int]:
    """Add the pending parts to the ids and number the results by first appearance."""
    keys = ids
    for part in pending:
        keys = keys + part
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.uint64)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.uint64)
    return order[inverse], len(first)


class Guess:
    """A Bayesian linear model of a result of counting a node: one coefficient per attribute and level.

    `mean` and `deviation` contain the coefficients of all attributes one after the other, then the intercept. The
    guess for a node is the sum of its coefficients. The order of summation is that of the compiled kernel.
    """

    def __init__(self, shape: Sequence[int], mean: Floats, deviation: Floats) -> None:
        if len(mean) != sum(shape) + 1 or len(deviation) != len(mean):
            raise ValueError("numbers do not fit the shape")
        self._shape = tuple(shape)
        self._first = np.cumsum([0, *shape])  # where each attribute's numbers begin, and the intercept
        self._mean = np.array(mean, dtype=np.float64)
        self._covariance = np.diag(np.asarray(deviation, dtype=np.float64) ** 2)

    def at(self, node: Sequence[int]) -> float:
        """Return the guess for one node."""
        return _total(self._mean[self._active(node)])

    def learn(self, node: Sequence[int], seen: float, variance: float) -> None:
        """Update the model with the result of counting a node (a rank-one Kalman update)."""
        active = self._active(node)
        spread = self._covariance[active].sum(axis=0)
        gain = spread / (_total(spread[active]) + variance)
        self._mean += gain * (seen - _total(self._mean[active]))
        self._covariance -= np.multiply.outer(gain, spread)

    def scores(self, threshold: float, spread: float) -> tuple[Floats, Floats]:
        """Return (guess - threshold) / spread for all nodes, as sums over each half of the attributes."""
        parts = np.split(self._mean[:-1] / spread, self._first[1:-1])
        middle = len(parts) // 2
        start = np.array([(self._mean[-1] - threshold) / spread])
        return _outer_sum(start, parts[:middle]), _outer_sum(np.zeros(1), parts[middle:])

    def _active(self, node: Sequence[int]) -> NDArray[np.int64]:
        if len(node) != len(self._shape):
            raise ValueError("one level per attribute, please")
        if any(level >= length for level, length in zip(node, self._shape, strict=True)):
            raise ValueError("no such level")
        active: NDArray[np.int64] = self._first + np.array((*node, 0))
        return active


def _total(numbers: Floats) -> float:
    """Add up from left to right, which `np.sum` does not."""
    return float(np.add.accumulate(numbers)[-1])


def _outer_sum(total: Floats, parts: Sequence[Floats]) -> Floats:
    for part in parts:
        total = np.add.outer(total, part).ravel()
    return total


def best_covers(
    shape: Sequence[int],
    open: Flags,  # noqa: A002
    barred: Flags,
    left: Floats,
    right: Floats,
    upward: bool,
    most: int,
) -> list[tuple[int, float]]:
    """Return the node that is expected to exclude the most extreme open nodes, with its gain.

    Further nodes, up to `most` in all, are chosen for the extreme nodes that remain; native/src/cover.hpp explains it.
    """
    is_open = open.reshape(shape).astype(bool)
    if upward:
        is_open = np.flip(is_open)
    extreme = is_open.copy()
    for axis in range(is_open.ndim):
        lower, higher = _neighbours(is_open.ndim, axis)
        extreme[lower] &= ~is_open[higher]
    score = np.add.outer(left, right).ravel()
    chance = 0.5 * (1.0 + score / np.sqrt(1.0 + score * score))
    found: list[tuple[int, float]] = []
    while len(found) < most:
        covered = extreme.astype(np.int64)
        for axis in range(covered.ndim):
            covered = np.cumsum(covered, axis=axis)
        gain = (np.flip(covered) if upward else covered).ravel() * chance
        gain[barred.astype(bool)] = 0.0
        index = int(np.argmax(gain))
        if gain[index] <= 0.0:
            break
        found.append((index, float(gain[index])))
        node = np.unravel_index(extreme.size - 1 - index if upward else index, extreme.shape)
        extreme[tuple(slice(0, int(level) + 1) for level in node)] = False
    return found


def least_likely(values: Floats, open: Flags, sure: Flags, left: Floats, right: Floats) -> int:  # noqa: A002
    """Return the open node with the lowest value among those that are sure or have a score below 0; -1 if none."""
    likely = open.astype(bool) & ((np.add.outer(left, right).ravel() < 0.0) | sure.astype(bool))
    candidates = np.where(likely, values, np.inf)
    index = int(candidates.argmin())
    return index if candidates[index] < np.inf else -1


def _neighbours(dimensions: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices of all nodes that have a neighbour above along an axis, and of those neighbours."""
    lower, higher = [slice(None)] * dimensions, [slice(None)] * dimensions
    lower[axis], higher[axis] = slice(0, -1), slice(1, None)
    return tuple(lower), tuple(higher)


def summarize(sizes: Counts, kept: Bools, least: int) -> tuple[int, int, int, int]:
    """Return the rows, number and smallest size (or 0) of kept classes, and the rows in classes below `least`."""
    if len(sizes) != len(kept):
        raise ValueError("sizes and verdicts differ in number")
    stay = sizes[kept]
    return int(stay.sum()), len(stay), int(stay.min()) if len(stay) else 0, int(sizes[sizes < least].sum())
