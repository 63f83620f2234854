"""The kernels for histograms of sensitive values in NumPy: one histogram per class, compared with that of the table.

Entries `starts[i]:starts[i + 1]` belong to class i: `values` are codes, each at most once in a class, and `counts` are
their frequencies in the class. `overall` counts every value in the whole table. Every distance is a fraction of whole
numbers that are computed exactly and divided with one rounding: a distance of 1/5 equals the literal 0.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Codes, Counts, Floats

MOST_ROWS = 2**47 - 1  # the compiled kernels compute in 128 bits
MOST_CLASSES = 2**32 - 1
BLOCK = 2**20  # the largest number of entries of a dense array of classes and values; affects only time and memory
ROUNDING = 1e-9  # a tolerance for rounding errors, so that bounds stay valid
EXACT_IN_DOUBLES = 2**53
Exact: TypeAlias = NDArray[Any]  # 64-bit integers if they are large enough, otherwise Python integers


def sort_cells(class_of: Codes, classes: int) -> tuple[Counts, Codes]:
    """Sort entries by class (stable); return where every class starts, and the entries in that order."""
    if not 0 <= classes <= MOST_CLASSES:
        raise ValueError("no such number of classes")
    if class_of.size and int(class_of.max()) >= classes:
        raise ValueError("no such class")
    starts = np.zeros(classes + 1, np.int64)
    np.cumsum(np.bincount(class_of, minlength=classes), out=starts[1:])
    return starts, np.argsort(class_of, kind="stable").astype(np.uint32)


def top_counts(starts: Counts, counts: Counts, places: int) -> tuple[Counts, Counts]:
    """Return per class the largest count, and the sum of its `places` largest counts (of all if it has fewer)."""
    if places < 0:
        raise ValueError("a negative number of places")
    class_of = _check_counts(starts, counts)
    descending = counts[np.lexsort((-counts, class_of))]
    rank = np.arange(len(counts)) - starts[class_of]
    return descending[starts[:-1]], _sums(np.where(rank < places, descending, 0), starts)


def entropies(starts: Counts, counts: Counts) -> Floats:
    """Return the entropy of each class in nats; exactly 0 for a class of one value, otherwise rounded."""
    class_of = _check_counts(starts, counts)
    rows = _sums(counts, starts)
    terms = np.bincount(class_of, weights=counts * _logs(counts), minlength=len(rows))  # adds from left to right
    entropy = np.maximum(_logs(rows) - terms / rows, 0.0)
    entropy[np.diff(starts) == 1] = 0.0
    return entropy


def equal_distance(starts: Counts, values: Codes, counts: Counts, overall: Counts) -> Floats:
    """Return per class half the sum of |p - q| over all values: the distance if all values are equally far apart."""
    table = _check_overall(overall)
    class_of = _check(starts, values, counts, (len(overall), table))
    rows = _sums(counts, starts)
    exact = _exact(table * int(rows.max(initial=0)))
    return _ratios(_surplus(class_of, counts, overall[values], (rows.astype(exact), table)), rows.astype(exact) * table)


def ordered_distance(starts: Counts, values: Codes, counts: Counts, overall: Counts) -> Floats:
    """Return per class the mean of |P - Q| over all values but the last; P and Q are cumulative, codes are ranks."""
    table = _check_overall(overall)
    class_of = _check(starts, values, counts, (len(overall), table))
    steps = len(overall) - 1
    if steps < 1:
        return np.zeros(len(starts) - 1)
    rows = _sums(counts, starts)
    exact = _exact(table * int(rows.max(initial=0)) * steps)
    parts: Exact = np.zeros(len(rows), exact)
    below: Exact = np.cumsum(overall)[:-1].astype(exact)
    block = max(1, BLOCK // len(overall))
    for first in range(0, len(rows), block):
        own = slice(first, first + block)
        cells = slice(starts[first], starts[min(first + block, len(rows))])
        dense: Exact = np.zeros((len(rows[own]), len(overall)), exact)
        dense[class_of[cells] - first, values[cells]] = counts[cells]
        differences = np.cumsum(dense, axis=1)[:, :-1] * table - np.multiply.outer(rows[own].astype(exact), below)
        parts[own] = np.abs(differences).sum(axis=1)
    return _ratios(parts, rows.astype(exact) * (table * steps))


class Tree:
    """The hierarchy of a table's values: `maps[level][value]` is the group of a value, the top level comes last.

    Moving a share within a group of level h costs h / H, and 1 from one group of the top level to another. The earth
    mover's distance is then the mean of the equal distances of all levels below the top (native/src/tree.hpp).
    """

    def __init__(self, maps: Sequence[Codes], overall: Counts) -> None:
        self._table = _check_overall(overall)
        self._values = len(overall)
        if not maps:
            raise ValueError("no levels")
        if any(len(level) != len(overall) for level in maps):
            raise ValueError("maps of unequal length")
        numbered = [np.unique(level, return_inverse=True)[1].astype(np.int64) for level in maps]
        sizes = [int(groups.max(initial=-1)) + 1 for groups in numbered]
        if sizes[0] < len(overall):
            raise ValueError("level 0 does not tell all values apart")
        for lower, upper, size in zip(numbered[:-1], numbered[1:], sizes[:-1], strict=True):
            if len(np.unique(lower * (len(overall) + 1) + upper)) > size:
                raise ValueError("a level that splits a group of the level below")
        self._below_top = [
            (groups, _totals(groups, overall, size)) for groups, size in zip(numbered, sizes, strict=True)
        ]
        self._below_top.pop()

    def distances(self, starts: Counts, values: Codes, counts: Counts) -> Floats:
        """Return per class the earth mover's distance to the whole table."""
        class_of = _check(starts, values, counts, (self._values, self._table))
        rows = _sums(counts, starts)
        height = len(self._below_top)
        if height == 0:
            return np.zeros(len(rows))
        exact = _exact(self._table * int(rows.max(initial=0)) * height)
        parts: Exact = np.zeros(len(rows), exact)
        for groups, overall in self._below_top:
            keys, cells = np.unique(class_of * len(overall) + groups[values], return_inverse=True)
            merged = _totals(cells, counts, len(keys))
            owners, nodes = np.divmod(keys, max(1, len(overall)))
            parts += _surplus(owners, merged, overall[nodes], (rows.astype(exact), self._table))
        return _ratios(parts, rows.astype(exact) * (self._table * height))

    def removals(self, starts: Counts, values: Codes, counts: Counts, distances: Floats, most: float) -> Floats:
        """Return per class a lower bound for the rows to remove so that its distance is at most `most`.

        `distances` are the distances of the classes. native/src/tree.hpp gives the proof.
        """
        class_of = _check(starts, values, counts, (self._values, self._table))
        rows = _sums(counts, starts).astype(np.float64)
        if len(distances) != len(rows):
            raise ValueError("classes and distances differ in number")
        height = len(self._below_top)
        if height == 0 or not len(rows):
            return np.zeros(len(rows))
        extra, mean, levels = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(values), np.int64)
        for groups, overall in self._below_top:
            keys, cells = np.unique(class_of * len(overall) + groups[values], return_inverse=True)
            owners, nodes = np.divmod(keys, max(1, len(overall)))
            share = overall[nodes] / self._table
            more = _totals(cells, counts, len(keys)) - share * rows[owners]
            np.add.at(extra, owners, np.maximum(more, 0.0))
            np.add.at(mean, owners, np.where(more > 0, share, 0.0) / height)
            levels += more[cells] > 0
        needed, removed = extra / height - (most + ROUNDING) * rows, np.zeros(len(rows))
        for level in range(height, -1, -1):
            gain = level / height - mean - most
            there = _totals(class_of, np.where(levels == level, counts, 0), len(rows)).astype(np.float64)
            hopeless = (needed > 0) & (gain <= 0)
            enough = (needed > 0) & (needed <= there * gain)
            taken = np.where(enough, needed / np.where(gain > 0, gain, np.inf), np.where(needed > 0, there, 0.0))
            removed = np.where(hopeless, rows, removed + taken)
            needed = np.where(hopeless | enough, 0.0, needed - taken * gain)
        kept = self._most_kept(class_of, values, counts, rows, most)
        return np.where(distances <= most, 0.0, np.maximum(np.minimum(removed, rows), rows - kept))

    def _most_kept(self, class_of: Counts, values: Codes, counts: Counts, rows: Floats, most: float) -> Floats:
        """Return per class an upper bound for the rows that can remain; native/src/tree.hpp gives the proof."""
        height = len(self._below_top)
        groups_of_levels = []
        for groups, overall in self._below_top:
            keys, cells = np.unique(class_of * len(overall) + groups[values], return_inverse=True)
            owners, nodes = np.divmod(keys, max(1, len(overall)))
            groups_of_levels.append((owners, _totals(cells, counts, len(keys)), overall[nodes] / self._table))
        wanted = height * (1.0 - most - ROUNDING)
        kept, done = rows.copy(), np.zeros(len(rows), dtype=bool)
        for _ in range(4):
            surplus, slope = -wanted * kept, np.full(len(rows), -wanted)
            for owners, own, share in groups_of_levels:
                room = share * kept[owners]
                np.add.at(surplus, owners, np.minimum(own, room))
                np.add.at(slope, owners, np.where(room < own, share, 0.0))
            done |= surplus >= 0.0
            lost = ~done & (slope >= 0.0)
            kept = np.where(done, kept, kept - surplus / np.where(slope < 0.0, slope, -1.0))
            kept = np.where(lost, rows, kept)
            done |= lost
        return np.maximum(kept, 0.0)


def _surplus(class_of: Counts, counts: Counts, overall: Counts, rows: tuple[Exact, int]) -> Exact:
    """Return per class the sum of max(c * N - o * n, 0) over its cells."""
    own, table = rows
    surplus = np.maximum(counts.astype(own.dtype) * table - overall * own[class_of], 0)
    sums = np.zeros(len(own), own.dtype)
    np.add.at(sums, class_of, surplus)
    return sums


def _ratios(parts: Exact, wholes: Exact) -> Floats:
    ratios: Floats = (parts / wholes).astype(np.float64)  # one rounding, for Python integers as well
    return ratios


def _exact(bound: int) -> type:
    return np.int64 if bound <= EXACT_IN_DOUBLES else object


def _sums(cells: Counts, starts: Counts) -> Counts:
    sums: Counts = np.add.reduceat(cells, starts[:-1]) if len(starts) > 1 else np.zeros(0, np.int64)
    return sums


def _totals(groups: Counts, counts: Counts, size: int) -> Counts:
    totals = np.zeros(size, np.int64)
    np.add.at(totals, groups, counts)
    return totals


def _logs(numbers: Counts) -> Floats:
    """Return the logarithms of the C library; those of NumPy may differ in the last bit."""
    different, places = np.unique(numbers, return_inverse=True)
    logs: Floats = np.array([math.log(number) for number in different.tolist()], np.float64)[places]
    return logs


def _check_counts(starts: Counts, counts: Counts) -> Counts:
    """Check the arrays and return the class of every entry."""
    if starts.size == 0 or starts[0] != 0 or starts[-1] != len(counts):
        raise ValueError("starts do not fit the cells")
    if np.any(starts[1:] <= starts[:-1]):
        raise ValueError("a class without cells")
    # sums of doubles cannot wrap around, and those of at most MOST_ROWS rows are exact
    if np.any(counts <= 0) or np.any(_sums(counts.astype(np.float64), starts) > MOST_ROWS):
        raise ValueError("a count that is not positive, or too many rows")
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _check_overall(overall: Counts) -> int:
    """Check the counts and return the number of rows of the table."""
    if np.any(overall < 0):
        raise ValueError("a negative count")
    if overall.astype(np.float64).sum() > MOST_ROWS:
        raise ValueError("too many rows")
    return int(overall.sum())


def _check(starts: Counts, values: Codes, counts: Counts, table: tuple[int, int]) -> Counts:
    """Check the arrays and return the class of every entry."""
    known, rows = table
    if len(values) != len(counts):
        raise ValueError("values and counts differ in number")
    class_of = _check_counts(starts, counts)
    if values.size and int(values.max()) >= known:
        raise ValueError("a value that the table does not have")
    if len(np.unique(class_of * known + values)) < len(values):
        raise ValueError("a class has a value twice")
    if rows == 0 and counts.size:
        raise ValueError("a table without rows")
    return class_of
