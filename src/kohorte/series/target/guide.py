"""A target as a guide: where regions can be cut without cutting its boxes, and the cost of other cuts.

A box of the target deviates by the sizes of its intersections with the regions, except the largest. So its deviation is
0 if one region contains it. Size is volume, or the number of rows expected there.

Source: European patent application EP 4 404 095 A1, "Anonymisieren von Daten", 2024, paragraphs 0092 to 0094. They
assume that regions and target cover the same values. Here, what no region covers counts as one more intersection that
is not the largest, so that the deviation is 0 exactly when the target is finer than the regions, also with gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kohorte.errors import InternalError
from kohorte.kernels.arrays import Bools, Floats, Integers
from kohorte.series.domain.regions import Positions, Regions, Split


@dataclass(frozen=True, eq=False)
class Guide:
    """The boxes of a target, in the pieces into which the regions cut them.

    Piece i is the intersection of box `box[i]` and region `region[i]`; `sizes` are those of whole boxes. All
    pieces of a box except the largest count towards its deviation.
    """

    regions: Regions
    boxes: Regions
    sizes: Floats = field(repr=False)
    region: Integers = field(repr=False)
    box: Integers = field(repr=False)
    lows: Positions = field(repr=False)
    highs: Positions = field(repr=False)

    @classmethod
    def of(cls, regions: Regions, boxes: Regions, sizes: Floats) -> Guide:
        """Find the boxes that overlap each region."""
        region, box = regions.overlaps(boxes)
        lows = np.maximum(regions.lows[region], boxes.lows[box])
        highs = np.minimum(regions.highs[region], boxes.highs[box])
        return cls(regions, boxes, sizes, region, box, lows, highs)

    @cached_property
    def piece_sizes(self) -> Floats:
        """The size of each piece: its share of the size of its box."""
        parts = Regions(self.lows, self.highs).volumes() / self.boxes.volumes()[self.box]
        sizes: Floats = self.sizes[self.box] * parts
        return sizes

    @cached_property
    def _largest(self) -> Integers:
        """The largest piece of each box that has pieces, in the order of the boxes."""
        order = np.lexsort((self.piece_sizes, self.box))
        last = np.append(self.box[order][1:] != self.box[order][:-1], True)[: len(order)]
        largest: Integers = order[last]
        return largest

    @cached_property
    def _spare(self) -> Floats:
        """By how much each piece exceeds all others of its box: cutting off more adds no deviation."""
        sizes, largest = self.piece_sizes, self._largest
        others = np.zeros(len(self.boxes))
        rest = np.delete(np.arange(len(sizes)), largest)
        np.maximum.at(others, self.box[rest], sizes[rest])
        spare = np.zeros(len(sizes))
        spare[largest] = sizes[largest] - others[self.box[largest]]
        return spare

    @property
    def deviations(self) -> Floats:
        """The deviation of each box."""
        missed = self.sizes.copy()
        missed[self.box[self._largest]] -= self.piece_sizes[self._largest]
        return missed

    @property
    def deviation(self) -> float:
        """How far the regions are from being coarser than the target."""
        return float(self.deviations.sum())

    @property
    def reached(self) -> Bools:
        """Which regions lie inside one box, or overlap none: there the target no longer steers splits."""
        reached: Bools = np.bincount(self.region, minlength=len(self.regions)) <= 1
        return reached

    def coarser_cuts(self, chosen: Integers, axis: int) -> tuple[Integers, Integers]:
        """All positions along an axis at which the chosen regions can be cut without cutting a box.

        Returns them as pairs, in order: which of the chosen regions, and the position.
        """
        pieces, which = self._pieces_of(chosen)
        first, last = self.regions.lows[chosen, axis], self.regions.highs[chosen, axis]
        width = int(last.max(initial=0)) + 1
        owner = np.concatenate([np.arange(len(chosen)), which, np.arange(len(chosen))])
        low = np.concatenate([first, self.lows[pieces, axis], last - 1])  # the ends of a region are not cuts
        high = np.concatenate([first + 1, self.highs[pieces, axis], last])
        order = np.argsort(owner * width + low, kind="stable")
        reach = np.maximum.accumulate((owner * width + high)[order])
        start, stop = reach[:-1], (owner * width + low)[order][1:]
        free = (start <= stop) & (owner[order][:-1] == owner[order][1:])
        _, keys = _ranges(start[free], stop[free] + 1)
        return keys // width, keys % width

    def added_deviation(self, region: Integers, axis: Integers, position: Integers) -> Floats:
        """By how much each of these splits, made alone, increases the deviation."""
        added = np.zeros(len(region))
        for along in np.unique(axis).tolist():
            here = np.flatnonzero(axis == along)
            added[here] = self._added_along(along, region[here], position[here])
        return added

    def _added_along(self, axis: int, region: Integers, position: Integers) -> Floats:
        pieces, _ = self._pieces_of(np.unique(region))
        low, high, width = self.lows[pieces, axis], self.highs[pieces, axis], int(self.regions.highs[:, axis].max()) + 1
        order = np.argsort(region * width + position)
        keys, base = (region * width + position)[order], self.region[pieces] * width
        first, stop = np.searchsorted(keys, base + low, side="right"), np.searchsorted(keys, base + high, side="left")
        which, cut = _ranges(first, stop)
        at = position[order[cut]]
        lost = np.minimum(at - low[which], high[which] - at) * (self.piece_sizes[pieces] / (high - low))[which]
        lost = np.minimum(lost, self._spare[pieces][which])
        return np.bincount(order[cut], weights=lost, minlength=len(region)).astype(np.float64)

    def divided(self, splits: Sequence[Split]) -> Guide:
        """The guide after these splits, at most one for each region."""
        cuts = np.array([(split.region, split.axis, split.position) for split in splits], dtype=np.int64).reshape(-1, 3)
        if len(np.unique(cuts[:, 0])) < len(cuts) or cuts[:, 0].max(initial=-1) >= len(self.regions):
            raise InternalError("a guide divides each region once at a time", code="series-split")
        pieces, which = self._pieces_of(cuts[:, 0])
        axis, position, upper = cuts[which, 1], cuts[which, 2], len(self.regions) + which
        low, high = self.lows[pieces, axis], self.highs[pieces, axis]
        region = self.region.copy()
        region[pieces[low >= position]] = upper[low >= position]
        cut = (low < position) & (position < high)
        copied, axis, position = pieces[cut], axis[cut], position[cut]
        lows = np.concatenate([self.lows, self.lows[copied]])
        highs = np.concatenate([self.highs, self.highs[copied]])
        highs[copied, axis] = lows[np.arange(len(self.box), len(lows)), axis] = position
        region, box = np.concatenate([region, upper[cut]]), np.concatenate([self.box, self.box[copied]])
        return replace(self, regions=self.regions.divided(splits), region=region, box=box, lows=lows, highs=highs)

    def _pieces_of(self, chosen: Integers) -> tuple[Integers, Integers]:
        """The pieces in the chosen regions, and the number of the chosen region of each."""
        number = np.full(len(self.regions), -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        pieces = np.flatnonzero(number[self.region] >= 0)
        return pieces, number[self.region[pieces]]


def _ranges(starts: Integers, stops: Integers) -> tuple[Integers, Integers]:
    """The numbers of the range of each whole number, and these whole numbers, range after range."""
    counts = np.maximum(stops - starts, 0)
    which = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    numbers: Integers = np.arange(int(counts.sum())) - (ends - counts - starts)[which]
    return which, numbers
