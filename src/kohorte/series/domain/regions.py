"""Regions: boxes over the quasi-identifiers, and what it means that one generalization is finer than another.

Every quasi-identifier is an axis with places 0, 1, 2, ... A region covers, on each axis, the places from its low up to
but not including its high. The regions of one generalization never overlap: a value lies in at most one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InternalError
from kohorte.kernels.arrays import Bools

Places = NDArray[np.int64]
"""Places on the axes, one column per quasi-identifier; or a column of them."""

OUTSIDE = -1
"""The place of a value in a gap, and the region of a row that lies in none."""


@dataclass(frozen=True)
class Split:
    """A region divided in two along one axis: `place` is the first of the upper part.

    The lower part keeps the number of the region, the upper part gets the next free one.
    """

    region: int
    axis: int
    place: int


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of a generalization: the corners of disjoint boxes, one row per region."""

    lows: Places = field(repr=False)
    highs: Places = field(repr=False)

    @classmethod
    def of(cls, boxes: Iterable[Sequence[tuple[int, int]]]) -> Regions:
        """Regions from boxes that are written out: on each axis from (inclusive) and to (exclusive)."""
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
        """The regions written out."""
        return [
            list(zip(low, high, strict=True)) for low, high in zip(self.lows.tolist(), self.highs.tolist(), strict=True)
        ]

    def volumes(self) -> NDArray[np.float64]:
        """How many combinations of places each region covers."""
        volumes: NDArray[np.float64] = (self.highs - self.lows).astype(np.float64).prod(axis=1)
        return volumes

    def divided(self, splits: Sequence[Split]) -> Regions:
        """The regions after these splits, one after another."""
        lows = np.concatenate([self.lows, np.empty((len(splits), self.axes), dtype=np.int64)])
        highs = np.concatenate([self.highs, np.empty((len(splits), self.axes), dtype=np.int64)])
        for number, split in enumerate(splits, start=len(self)):
            if not 0 <= split.region < number or not 0 <= split.axis < self.axes:
                raise InternalError("a split names a region or an axis that there is not", code="series-split")
            if not lows[split.region, split.axis] < split.place < highs[split.region, split.axis]:
                raise InternalError("a split does not lie inside its region", code="series-split")
            lows[number], highs[number] = lows[split.region], highs[split.region]
            highs[split.region, split.axis] = lows[number, split.axis] = split.place
        return Regions(lows, highs)

    def locate(self, places: Places) -> NDArray[np.int64]:
        """The region of every row, by its places; OUTSIDE where it lies in none."""
        found = np.full(len(places), OUTSIDE, dtype=np.int64)
        waiting = [(np.arange(len(places)), np.arange(len(self)))]
        while waiting:
            rows, candidates = waiting.pop()
            if len(rows) == 0 or len(candidates) == 0:
                continue
            if len(candidates) <= FEW or len(rows) <= FEW:
                _settle(found, rows, candidates, places, self)
            else:
                waiting += _halves(rows, candidates, places, self)
        return found

    def overlaps(self, other: Regions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All pairs of a region of this and one of another generalization that share a place, in order."""
        keys = [own * len(other) + hits for own, hits in _meetings(self, other)]
        pairs = np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)
        return pairs // max(1, len(other)), pairs % max(1, len(other))

    def finer_than(self, other: Regions) -> bool:
        """Whether every region lies inside exactly one region of the other; equal ones are finer, too."""
        return bool(self.parents(other).min(initial=0) >= 0)

    def parents(self, other: Regions) -> NDArray[np.int64]:
        """The region of the other generalization that each region lies in; OUTSIDE where there is no such one."""
        first = other.locate(self.lows)
        inside = np.logical_and(self.lows >= other.lows[first], self.highs <= other.highs[first]).all(axis=1)
        return np.where((first != OUTSIDE) & inside, first, OUTSIDE)

    def disjoint(self) -> bool:
        """Whether no place lies in two regions."""
        return all((own == others).all() for own, others in _meetings(self, self))


FEW = 32
MOST_COMPARED = 2_000_000
"""How many pairs of a row and a region are looked at in one go."""


def _settle(
    found: NDArray[np.int64], rows: NDArray[np.int64], candidates: NDArray[np.int64], places: Places, regions: Regions
) -> None:
    """Compare rows with regions where few of either are left."""
    lows, highs = regions.lows[candidates], regions.highs[candidates]
    for some in np.array_split(rows, -(-len(rows) * len(candidates) // MOST_COMPARED)):
        inside = np.ones((len(some), len(candidates)), dtype=bool)
        for axis in range(places.shape[1]):
            column = places[some, axis][:, np.newaxis]
            inside &= (lows[:, axis] <= column) & (column < highs[:, axis])
        hit = inside.any(axis=1)
        found[some[hit]] = candidates[inside[hit].argmax(axis=1)]


def _halves(
    rows: NDArray[np.int64], candidates: NDArray[np.int64], places: Places, regions: Regions
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Divide the regions and the rows at a place that few regions cross and that has many on both sides."""
    lows, highs = regions.lows[candidates], regions.highs[candidates]
    middles = np.median(lows, axis=0).astype(np.int64)
    below, above = (lows < middles).sum(axis=0), (highs > middles).sum(axis=0)
    axis = int(np.maximum(below, above).argmin())
    if max(below[axis], above[axis]) == len(candidates):  # nothing divides them: compare them all
        return [(rows, part) for part in np.array_split(candidates, -(-len(candidates) // FEW))]
    place = middles[axis]
    upper = places[rows, axis] >= place
    return [
        (rows[~upper], candidates[lows[:, axis] < place]),
        (rows[upper], candidates[highs[:, axis] > place]),
    ]


Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
MANY = 1 << 20
"""How many pairs are compared at once."""


def _meetings(one: Regions, other: Regions) -> Iterator[Pairs]:
    """Pairs of regions that share a place, part by part; those that lie in several parts come several times."""
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


def _meet(one: Regions, own: NDArray[np.int64], other: Regions, others: NDArray[np.int64]) -> Bools:
    """Which of these regions share a place with which of those."""
    meet: Bools = np.ones((len(own), len(others)), dtype=np.bool_)
    for axis in range(one.axes):
        meet &= one.lows[own, axis][:, None] < other.highs[others, axis]
        meet &= other.lows[others, axis] < one.highs[own, axis][:, None]
    return meet


def _parts(one: Regions, own: NDArray[np.int64], other: Regions, others: NDArray[np.int64]) -> list[Pairs] | None:
    """Divide both where it leaves the fewest pairs to compare; None where it would not help."""
    lows = np.concatenate([one.lows[own], other.lows[others]])
    places = np.partition(lows, len(lows) // 2, axis=0)[len(lows) // 2]
    below, above = one.lows[own] < places, one.highs[own] > places
    others_below, others_above = other.lows[others] < places, other.highs[others] > places
    left = below.sum(axis=0) * others_below.sum(axis=0) + above.sum(axis=0) * others_above.sum(axis=0)
    axis = int(left.argmin())
    if left[axis] > WORTH * len(own) * len(others):
        return None
    return [
        (own[below[:, axis]], others[others_below[:, axis]]),
        (own[above[:, axis]], others[others_above[:, axis]]),
    ]


WORTH = 0.8
"""The share of pairs up to which a division is worth its cost."""
