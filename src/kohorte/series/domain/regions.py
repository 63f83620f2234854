"""Regions: boxes over the quasi-identifiers, and what it means that one generalization is finer than another.

Every quasi-identifier is an axis with positions 0, 1, 2, ... A region covers, on each axis, the positions from its low
up to but not including its high. The regions of one generalization never overlap: a value lies in at most one of
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InternalError
from kohorte.kernels.arrays import Bools, Integers

Positions = Integers
"""Positions on the axes, one column per quasi-identifier; or a column of them."""

OUTSIDE = -1
"""The position of a value in a gap, and the region of a row that lies in no region."""


class Generalization(Protocol):
    """What tells which rows look the same in a release: its regions, or the levels of a full-domain series."""

    def locate(self, positions: Positions) -> Integers:
        """The number of the class of every row; OUTSIDE where it has none."""


@dataclass(frozen=True)
class Split:
    """A region divided in two along one axis: `position` is the first of the upper part.

    The lower part keeps the number of the region, the upper part gets the next free one.
    """

    region: int
    axis: int
    position: int


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of a generalization: the corners of disjoint boxes, one row per region."""

    lows: Positions = field(repr=False)
    highs: Positions = field(repr=False)

    @classmethod
    def of(cls, boxes: Iterable[Sequence[tuple[int, int]]]) -> Regions:
        """Regions from lists of (start, end) pairs, one per axis; the end is excluded."""
        corners = np.array([list(box) for box in boxes], dtype=np.int64)
        return cls(np.ascontiguousarray(corners[:, :, 0]), np.ascontiguousarray(corners[:, :, 1]))

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def axes(self) -> int:
        """How many quasi-identifiers there are."""
        return int(self.lows.shape[1])

    @property
    def boxes(self) -> list[list[tuple[int, int]]]:
        """The regions as lists of (start, end) pairs."""
        return [
            list(zip(low, high, strict=True)) for low, high in zip(self.lows.tolist(), self.highs.tolist(), strict=True)
        ]

    def volumes(self) -> NDArray[np.float64]:
        """How many combinations of positions each region covers."""
        volumes: NDArray[np.float64] = (self.highs - self.lows).astype(np.float64).prod(axis=1)
        return volumes

    def divided(self, splits: Sequence[Split]) -> Regions:
        """The regions after these splits, made one after another."""
        lows = np.concatenate([self.lows, np.empty((len(splits), self.axes), dtype=np.int64)])
        highs = np.concatenate([self.highs, np.empty((len(splits), self.axes), dtype=np.int64)])
        for number, split in enumerate(splits, start=len(self)):
            if not 0 <= split.region < number or not 0 <= split.axis < self.axes:
                raise InternalError("a split names a region or an axis that does not exist", code="series-split")
            if not lows[split.region, split.axis] < split.position < highs[split.region, split.axis]:
                raise InternalError("a split does not lie inside its region", code="series-split")
            lows[number], highs[number] = lows[split.region], highs[split.region]
            highs[split.region, split.axis] = lows[number, split.axis] = split.position
        return Regions(lows, highs)

    def locate(self, positions: Positions) -> Integers:
        """The region of every row, by its positions; OUTSIDE where it lies in none."""
        found = np.full(len(positions), OUTSIDE, dtype=np.int64)
        waiting = [(np.arange(len(positions)), np.arange(len(self)))]
        while waiting:
            rows, candidates = waiting.pop()
            if len(rows) == 0 or len(candidates) == 0:
                continue
            if len(candidates) <= FEW or len(rows) <= FEW:
                _settle(found, rows, candidates, positions, self)
            else:
                waiting += _halves(rows, candidates, positions, self)
        return found

    def overlaps(self, other: Regions) -> tuple[Integers, Integers]:
        """All pairs of overlapping regions of this and another generalization, in order."""
        keys = [own * len(other) + hits for own, hits in _meetings(self, other)]
        pairs = np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)
        return pairs // max(1, len(other)), pairs % max(1, len(other))

    def finer_than(self, other: Regions) -> bool:
        """Whether every region lies inside one region of the other; an equal generalization counts as finer."""
        return bool(self.parents(other).min(initial=0) >= 0)

    def parents(self, other: Regions) -> Integers:
        """The region of the other generalization that contains each region; OUTSIDE if none does."""
        first = other.locate(self.lows)
        inside = np.logical_and(self.lows >= other.lows[first], self.highs <= other.highs[first]).all(axis=1)
        return np.where((first != OUTSIDE) & inside, first, OUTSIDE)

    def disjoint(self) -> bool:
        """Whether no two regions overlap."""
        return all((own == others).all() for own, others in _meetings(self, self))


FEW = 32
"""Below so many rows or regions, comparing all is cheaper than dividing them; the answer is the same for any value."""
MOST_COMPARED = 2_000_000
"""How many pairs of a row and a region are compared at once; it bounds the memory (some 2 MB)."""


def _settle(found: Integers, rows: Integers, candidates: Integers, positions: Positions, regions: Regions) -> None:
    """Compare all rows with all regions, where few of either are left."""
    lows, highs = regions.lows[candidates], regions.highs[candidates]
    for some in np.array_split(rows, -(-len(rows) * len(candidates) // MOST_COMPARED)):
        inside = np.ones((len(some), len(candidates)), dtype=bool)
        for axis in range(positions.shape[1]):
            column = positions[some, axis][:, np.newaxis]
            inside &= (lows[:, axis] <= column) & (column < highs[:, axis])
        hit = inside.any(axis=1)
        found[some[hit]] = candidates[inside[hit].argmax(axis=1)]


def _halves(
    rows: Integers, candidates: Integers, positions: Positions, regions: Regions
) -> list[tuple[Integers, Integers]]:
    """Divide the regions and the rows at a position that few regions cross and that leaves many on both sides."""
    lows, highs = regions.lows[candidates], regions.highs[candidates]
    middles = np.median(lows, axis=0).astype(np.int64)
    below, above = (lows < middles).sum(axis=0), (highs > middles).sum(axis=0)
    axis = int(np.maximum(below, above).argmin())
    if max(below[axis], above[axis]) == len(candidates):  # nothing divides them: compare them all
        return [(rows, part) for part in np.array_split(candidates, -(-len(candidates) // FEW))]
    position = middles[axis]
    upper = positions[rows, axis] >= position
    return [
        (rows[~upper], candidates[lows[:, axis] < position]),
        (rows[upper], candidates[highs[:, axis] > position]),
    ]


Pairs = tuple[Integers, Integers]
MANY = 1 << 20
"""How many pairs of regions are compared at once; it bounds the memory (some 1 MB)."""


def _meetings(one: Regions, other: Regions) -> Iterator[Pairs]:
    """Pairs of overlapping regions, part by part; pairs that lie in several parts are repeated."""
    waiting = [(np.arange(len(one)), np.arange(len(other)))]
    while waiting:
        own, others = waiting.pop()
        parts = _parts(one, own, other, others) if len(own) * len(others) > FEW * FEW else None
        if parts is not None:
            waiting += parts
            continue
        rows = max(1, MANY // max(1, len(others)))
        for start in range(0, len(own), rows):
            some = own[start : start + rows]
            found = np.nonzero(_meet(one, some, other, others))
            yield some[found[0]], others[found[1]]


def _meet(one: Regions, own: Integers, other: Regions, others: Integers) -> Bools:
    """Tell for each pair of these regions whether they overlap."""
    meet: Bools = np.ones((len(own), len(others)), dtype=np.bool_)
    for axis in range(one.axes):
        meet &= one.lows[own, axis][:, None] < other.highs[others, axis]
        meet &= other.lows[others, axis] < one.highs[own, axis][:, None]
    return meet


def _parts(one: Regions, own: Integers, other: Regions, others: Integers) -> list[Pairs] | None:
    """Divide both where it leaves the fewest pairs to compare; None if that would not help."""
    lows = np.concatenate([one.lows[own], other.lows[others]])
    positions = np.partition(lows, len(lows) // 2, axis=0)[len(lows) // 2]
    below, above = one.lows[own] < positions, one.highs[own] > positions
    others_below, others_above = other.lows[others] < positions, other.highs[others] > positions
    left = below.sum(axis=0) * others_below.sum(axis=0) + above.sum(axis=0) * others_above.sum(axis=0)
    axis = int(left.argmin())
    if left[axis] > WORTH * len(own) * len(others):
        return None
    return [
        (own[below[:, axis]], others[others_below[:, axis]]),
        (own[above[:, axis]], others[others_above[:, axis]]),
    ]


WORTH = 0.8
"""The share of pairs up to which a division is worth its cost; the answer is the same for any value."""
