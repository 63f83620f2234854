"""Candidates: where regions could be split, and what that would gain, for many regions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools, Floats
from kohorte.series.domain.axis import FREE, Axis
from kohorte.series.domain.regions import Places, Regions
from kohorte.series.target.guide import Guide

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Places at which regions could be split, by region, and in the order in which they are to be tried."""

    region: Numbers = field(repr=False)
    axis: Numbers = field(repr=False)
    place: Numbers = field(repr=False)
    gain: Floats = field(repr=False)

    @classmethod
    def none(cls) -> Candidates:
        """No candidates at all."""
        empty = np.empty(0, dtype=np.int64)
        return cls(empty, empty, empty, np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """All of these, those that gain the most first."""
        return cls.together(parts).sorted()

    @classmethod
    def together(cls, parts: Sequence[Candidates]) -> Candidates:
        """All of these, one after another."""
        columns = ([getattr(part, name) for part in parts] for name in ("region", "axis", "place", "gain"))
        return cls(*(np.concatenate(column) for column in columns))

    def sorted(self, preferred: Floats | None = None) -> Candidates:
        """By region; within it by a number that should be small, then by gain."""
        first = -self.gain if preferred is None else preferred
        return self.select(np.lexsort((self.place, self.axis, -self.gain, first, self.region)))

    def select(self, which: Bools | Numbers) -> Candidates:
        """Some of them."""
        return Candidates(self.region[which], self.axis[which], self.place[which], self.gain[which])

    def __len__(self) -> int:
        return len(self.region)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Neighbouring rows of a region, seen along an axis, between which it could be cut.

    A cut at any place from `start` to `stop` leaves the same `lower` and `upper` numbers of rows on both sides.
    """

    region: Numbers
    start: Numbers
    stop: Numbers
    lower: Numbers
    upper: Numbers


@dataclass(frozen=True, eq=False)
class OpenRegions:
    """Regions that may be split, `chosen` from all, with their rows: `local` numbers the chosen ones from 0.

    Candidates name regions by these numbers. Both parts of a candidate have at least `least` rows.
    """

    axes: Sequence[Axis]
    weights: Sequence[float]
    regions: Regions = field(repr=False)
    chosen: Numbers = field(repr=False)
    local: Numbers = field(repr=False)
    places: Places = field(repr=False)
    least: int

    def by_information(self, which: Bools) -> Candidates:
        """All of the regions that are flagged: first those that lessen the loss the most.

        Where a hierarchy divides categories at a lower level than it could, they come after all others.
        """
        found, later = [Candidates.none()], [np.empty(0, dtype=bool)]
        for number, axis in enumerate(self.axes):
            gaps = self._gaps(number, which)
            place, highest = _places(axis, gaps)
            found.append(self.candidates_at(number, gaps, place))
            later.append(~highest)
        order, candidates = np.concatenate(later).astype(np.float64), Candidates.together(found)
        return candidates.sorted(order)

    def by_target(self, which: Bools, guide: Guide) -> Candidates:
        """Those that cut through no region of the target, the most informative first."""
        flagged, found = np.flatnonzero(which), [Candidates.none()]
        for number, axis in enumerate(self.axes):
            owner, place = guide.coarser_cuts(self.chosen[flagged], number)
            region = flagged[owner]
            keys = self._sorted_keys(number)
            width = axis.length + 1
            begin, middle, end = (np.searchsorted(keys, region * width + at) for at in (0, place, width))
            gaps = Gaps(region, place, place, middle - begin, end - middle)
            enough = (gaps.lower >= self.least) & (gaps.upper >= self.least)
            found.append(self.candidates_at(number, gaps, place).select(enough))
        return Candidates.joined(found)

    def by_deviation(self, which: Bools, guide: Guide, *, tolerated: float) -> Candidates:
        """Those that add the least deviation from the target first, up to a limit."""
        found = [Candidates.none()]
        for number in range(len(self.axes)):
            gaps = self._gaps(number, which)
            spots = np.unique(np.stack([gaps.start, (gaps.start + gaps.stop) // 2, gaps.stop]), axis=0)
            found += [self.candidates_at(number, gaps, place) for place in spots]
        candidates = Candidates.joined(found)
        added = guide.added_deviation(self.chosen[candidates.region], candidates.axis, candidates.place)
        near = added <= tolerated
        return candidates.select(near).sorted(added[near])

    def candidates_at(self, number: int, gaps: Gaps, place: Numbers) -> Candidates:
        """Cuts of gaps along an axis at these places."""
        along = np.full(len(place), number, dtype=np.int64)
        return Candidates(gaps.region, along, place, self._gains(number, gaps, place))

    def _gains(self, number: int, gaps: Gaps, place: Numbers) -> Floats:
        """By how much a cut lessens the loss, summed over the rows of both parts."""
        axis, here = self.axes[number], self.chosen[gaps.region]
        low, high = self.regions.lows[here, number], self.regions.highs[here, number]
        whole = axis.shares(low, high)
        lower, upper = whole - axis.shares(low, place), whole - axis.shares(place, high)
        gains: Floats = self.weights[number] * (gaps.lower * lower + gaps.upper * upper)
        return gains

    def _sorted_keys(self, number: int) -> Numbers:
        return np.sort(self.local * (self.axes[number].length + 1) + self.places[:, number])

    def _gaps(self, number: int, which: Bools) -> Gaps:
        """Where the flagged regions could be cut along an axis so that both parts have enough rows."""
        width = self.axes[number].length + 1
        rows = which[self.local]
        keys, counts = np.unique(self.local[rows] * width + self.places[rows, number], return_counts=True)
        owner, here = keys // width, keys % width
        total = np.bincount(owner, weights=counts, minlength=len(self.chosen)).astype(np.int64)
        lower = np.cumsum(counts) - (np.cumsum(total) - total)[owner]  # rows up to here, within the region
        upper = total[owner] - lower
        enough = np.flatnonzero((lower >= self.least) & (upper >= self.least))
        return Gaps(owner[enough], here[enough] + 1, here[enough + 1], lower[enough], upper[enough])


def _places(axis: Axis, gaps: Gaps) -> tuple[Numbers, Bools]:
    """Where to cut between neighbouring rows: measures in the middle, categories where the hierarchy divides them.

    The flags tell where it divides them at the highest level that is possible in the region.
    """
    missing = gaps.stop == axis.known  # the rows above lack a value
    if axis.measured:
        return np.where(missing, gaps.stop, (gaps.start + gaps.stop) // 2), np.ones(len(missing), dtype=bool)
    place = np.where(missing, gaps.stop, first_highest(axis, gaps.start, gaps.stop + 1))
    levels = axis.cut_levels[np.minimum(place, axis.length - 1)]
    highest = np.full(int(gaps.region.max(initial=0)) + 1, FREE)
    np.maximum.at(highest, gaps.region, levels)
    return place, (levels == highest[gaps.region]) | (levels == FREE)


def first_highest(axis: Axis, start: Numbers, stop: Numbers) -> Numbers:
    """The first place with the highest cut level of each range [start, stop); all ranges have places."""
    levels = axis.cut_levels
    key = levels * len(levels) + (len(levels) - 1 - np.arange(len(levels)))  # the highest level, then the first place
    table, width = [key], 1
    while 2 * width <= int((stop - start).max(initial=1)):
        table.append(np.maximum(table[-1][: len(table[-1]) - width], table[-1][width:]))
        width *= 2
    power = np.frexp((stop - start).astype(np.float64))[1] - 1
    best = np.empty(len(start), dtype=np.int64)
    for level in np.unique(power).tolist():
        here = power == level
        best[here] = np.maximum(table[level][start[here]], table[level][stop[here] - (1 << level)])
    first: Numbers = len(levels) - 1 - best % len(levels)
    return first
