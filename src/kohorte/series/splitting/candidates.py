"""Candidates: where regions could be split, and how much that would reduce the loss, for many regions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Bools, Floats, Integers
from kohorte.series.domain.axis import FREE, Axis
from kohorte.series.domain.regions import Positions, Regions
from kohorte.series.target.guide import Guide


@dataclass(frozen=True, eq=False)
class Candidates:
    """Positions at which regions could be split, by region, in the order in which they are tried."""

    region: Integers = field(repr=False)
    axis: Integers = field(repr=False)
    position: Integers = field(repr=False)
    gain: Floats = field(repr=False)

    @classmethod
    def none(cls) -> Candidates:
        """No candidates at all."""
        empty = np.empty(0, dtype=np.int64)
        return cls(empty, empty, empty, np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """All of these, largest gain first."""
        return cls.together(parts).sorted()

    @classmethod
    def together(cls, parts: Sequence[Candidates]) -> Candidates:
        """All of these, one after another."""
        columns = ([getattr(part, name) for part in parts] for name in ("region", "axis", "position", "gain"))
        return cls(*(np.concatenate(column) for column in columns))

    def sorted(self, preferred: Floats | None = None) -> Candidates:
        """Sort by region, then by a number of which less is better, then by gain."""
        first = -self.gain if preferred is None else preferred
        return self.select(np.lexsort((self.position, self.axis, -self.gain, first, self.region)))

    def select(self, which: Bools | Integers) -> Candidates:
        """Some of them."""
        return Candidates(self.region[which], self.axis[which], self.position[which], self.gain[which])

    def __len__(self) -> int:
        return len(self.region)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Neighbouring rows of a region along an axis, between which it could be cut.

    A cut at any position from `start` to `stop` leaves the same `lower` and `upper` numbers of rows on both sides.
    """

    region: Integers
    start: Integers
    stop: Integers
    lower: Integers
    upper: Integers


@dataclass(frozen=True, eq=False)
class OpenRegions:
    """Regions that may be split, `chosen` from all, with their rows; `local` is the chosen region of each row, from 0.

    Candidates refer to regions by these numbers. Both parts of a candidate have at least `least` rows.
    """

    axes: Sequence[Axis]
    weights: Sequence[float]
    regions: Regions = field(repr=False)
    chosen: Integers = field(repr=False)
    local: Integers = field(repr=False)
    positions: Positions = field(repr=False)
    least: int

    def by_information(self, which: Bools) -> Candidates:
        """All candidates of the flagged regions, those that reduce the loss the most first.

        Cuts between categories at a lower level than the hierarchy allows come after all others.
        """
        found, later = [Candidates.none()], [np.empty(0, dtype=bool)]
        for number, axis in enumerate(self.axes):
            gaps = self._gaps(number, which)
            position, highest = _positions(axis, gaps)
            found.append(self.candidates_at(number, gaps, position))
            later.append(~highest)
        order, candidates = np.concatenate(later).astype(np.float64), Candidates.together(found)
        return candidates.sorted(order)

    def by_target(self, which: Bools, guide: Guide) -> Candidates:
        """Candidates that cut through no region of the target, those that reduce the loss the most first."""
        flagged, found = np.flatnonzero(which), [Candidates.none()]
        for number, axis in enumerate(self.axes):
            owner, position = guide.coarser_cuts(self.chosen[flagged], number)
            region = flagged[owner]
            keys = self._sorted_keys(number)
            width = axis.length + 1
            begin, middle, end = (np.searchsorted(keys, region * width + at) for at in (0, position, width))
            gaps = Gaps(region, position, position, middle - begin, end - middle)
            enough = (gaps.lower >= self.least) & (gaps.upper >= self.least)
            found.append(self.candidates_at(number, gaps, position).select(enough))
        return Candidates.joined(found)

    def by_deviation(self, which: Bools, guide: Guide, *, tolerated: float) -> Candidates:
        """Candidates that add the least deviation from the target first, up to a limit."""
        found = [Candidates.none()]
        for number in range(len(self.axes)):
            gaps = self._gaps(number, which)
            spots = np.unique(np.stack([gaps.start, (gaps.start + gaps.stop) // 2, gaps.stop]), axis=0)
            found += [self.candidates_at(number, gaps, position) for position in spots]
        candidates = Candidates.joined(found)
        added = guide.added_deviation(self.chosen[candidates.region], candidates.axis, candidates.position)
        near = added <= tolerated
        return candidates.select(near).sorted(added[near])

    def candidates_at(self, number: int, gaps: Gaps, position: Integers) -> Candidates:
        """Cuts of gaps along an axis at these positions."""
        along = np.full(len(position), number, dtype=np.int64)
        return Candidates(gaps.region, along, position, self._gains(number, gaps, position))

    def _gains(self, number: int, gaps: Gaps, position: Integers) -> Floats:
        """By how much a cut reduces the loss, summed over the rows of both parts."""
        axis, here = self.axes[number], self.chosen[gaps.region]
        low, high = self.regions.lows[here, number], self.regions.highs[here, number]
        whole = axis.shares(low, high)
        lower, upper = whole - axis.shares(low, position), whole - axis.shares(position, high)
        gains: Floats = self.weights[number] * (gaps.lower * lower + gaps.upper * upper)
        return gains

    def _sorted_keys(self, number: int) -> Integers:
        return np.sort(self.local * (self.axes[number].length + 1) + self.positions[:, number])

    def _gaps(self, number: int, which: Bools) -> Gaps:
        """Gaps at which the flagged regions could be cut so that both parts have enough rows."""
        width = self.axes[number].length + 1
        rows = which[self.local]
        keys, counts = np.unique(self.local[rows] * width + self.positions[rows, number], return_counts=True)
        owner, here = keys // width, keys % width
        total = np.bincount(owner, weights=counts, minlength=len(self.chosen)).astype(np.int64)
        lower = np.cumsum(counts) - (np.cumsum(total) - total)[owner]  # rows up to here, within the region
        upper = total[owner] - lower
        enough = np.flatnonzero((lower >= self.least) & (upper >= self.least))
        return Gaps(owner[enough], here[enough] + 1, here[enough + 1], lower[enough], upper[enough])


def _positions(axis: Axis, gaps: Gaps) -> tuple[Integers, Bools]:
    """Where to cut between neighbouring rows: numbers in the middle, categories where the hierarchy divides them.

    The flags tell whether that is at the highest level possible in the region.
    """
    missing = gaps.stop == axis.known  # the rows above lack a value
    if axis.measured:
        return np.where(missing, gaps.stop, (gaps.start + gaps.stop) // 2), np.ones(len(missing), dtype=bool)
    position = np.where(missing, gaps.stop, first_highest(axis, gaps.start, gaps.stop + 1))
    levels = axis.cut_levels[np.minimum(position, axis.length - 1)]
    highest = np.full(int(gaps.region.max(initial=0)) + 1, FREE)
    np.maximum.at(highest, gaps.region, levels)
    return position, (levels == highest[gaps.region]) | (levels == FREE)


def first_highest(axis: Axis, start: Integers, stop: Integers) -> Integers:
    """The first position with the highest cut level in each range [start, stop); no range is empty."""
    levels = axis.cut_levels
    backwards = len(levels) - 1 - np.arange(len(levels))
    key = levels * len(levels) + backwards  # the highest level, then the first position
    table, width = [key], 1
    while 2 * width <= int((stop - start).max(initial=1)):
        table.append(np.maximum(table[-1][: len(table[-1]) - width], table[-1][width:]))
        width *= 2
    power = np.frexp((stop - start).astype(np.float64))[1] - 1
    best = np.empty(len(start), dtype=np.int64)
    for level in np.unique(power).tolist():
        here = power == level
        best[here] = np.maximum(table[level][start[here]], table[level][stop[here] - (1 << level)])
    first: Integers = len(levels) - 1 - best % len(levels)
    return first
