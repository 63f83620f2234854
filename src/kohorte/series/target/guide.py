"""A target as a guide: where regions can be cut without cutting its boxes, and what it costs where they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InternalError
from kohorte.kernels.arrays import Bools, Floats
from kohorte.series.domain.regions import Places, Regions, Split

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Guide:
    """The boxes of a target, in the pieces into which the regions cut them.

    Piece i is what box `box[i]` has in common with region `region[i]`; `sizes` are those of whole boxes, volumes or
    masses. A box counts towards the deviation with all of its pieces but the largest.
    """

    regions: Regions
    boxes: Regions
    sizes: Floats = field(repr=False)
    region: Numbers = field(repr=False)
    box: Numbers = field(repr=False)
    lows: Places = field(repr=False)
    highs: Places = field(repr=False)

    @classmethod
    def of(cls, regions: Regions, boxes: Regions, sizes: Floats) -> Guide:
        """Find the boxes that meet each region."""
        region, box = regions.overlaps(boxes)
        lows = np.maximum(regions.lows[region], boxes.lows[box])
        highs = np.minimum(regions.highs[region], boxes.highs[box])
        return cls(regions, boxes, sizes, region, box, lows, highs)

    @cached_property
    def piece_sizes(self) -> Floats:
        """The size of each piece: its part of the box's size."""
        parts = Regions(self.lows, self.highs).volumes() / self.boxes.volumes()[self.box]
        sizes: Floats = self.sizes[self.box] * parts
        return sizes

    @cached_property
    def _largest(self) -> Numbers:
        """The largest piece of each box that has one, by box."""
        order = np.lexsort((self.piece_sizes, self.box))
        last = np.append(self.box[order][1:] != self.box[order][:-1], True)[: len(order)]
        largest: Numbers = order[last]
        return largest

    @cached_property
    def _spare(self) -> Floats:
        """By how much each piece is larger than all others of its box: cutting off more costs nothing more."""
        sizes, largest = self.piece_sizes, self._largest
        others = np.zeros(len(self.boxes))
        rest = np.delete(np.arange(len(sizes)), largest)
        np.maximum.at(others, self.box[rest], sizes[rest])
        spare = np.zeros(len(sizes))
        spare[largest] = sizes[largest] - others[self.box[largest]]
        return spare

    @property
    def deviation(self) -> float:
        """How far the regions are from being coarser than the target."""
        missed = self.sizes.copy()
        missed[self.box[self._largest]] -= self.piece_sizes[self._largest]
        return float(missed.sum())

    @property
    def reached(self) -> Bools:
        """Which regions lie inside one box, or meet none: there the target has no more to say."""
        reached: Bools = np.bincount(self.region, minlength=len(self.regions)) <= 1
        return reached

    def coarser_cuts(self, chosen: Numbers, axis: int) -> tuple[Numbers, Numbers]:
        """All places along an axis at which the chosen regions can be cut without cutting a box.

        Returns them as pairs, in order: which of the chosen regions, and the place.
        """
        pieces, which = self._pieces_of(chosen)
        first, last = self.regions.lows[chosen, axis], self.regions.highs[chosen, axis]
        width = int(last.max(initial=0)) + 1
        owner = np.concatenate([np.arange(len(chosen)), which, np.arange(len(chosen))])
        low = np.concatenate([first, self.lows[pieces, axis], last - 1])  # the ends of a region are no cuts
        high = np.concatenate([first + 1, self.highs[pieces, axis], last])
        order = np.argsort(owner * width + low, kind="stable")
        reach = np.maximum.accumulate((owner * width + high)[order])
        start, stop = reach[:-1], (owner * width + low)[order][1:]
        free = (start <= stop) & (owner[order][:-1] == owner[order][1:])
        _, keys = _ranges(start[free], stop[free] + 1)
        return keys // width, keys % width

    def added_deviation(self, region: Numbers, axis: Numbers, place: Numbers) -> Floats:
        """By how much the deviation grows with each of these splits, if it is the only one that is made."""
        added = np.zeros(len(region))
        for along in np.unique(axis).tolist():
            here = np.flatnonzero(axis == along)
            added[here] = self._added_along(along, region[here], place[here])
        return added

    def _added_along(self, axis: int, region: Numbers, place: Numbers) -> Floats:
        pieces, _ = self._pieces_of(np.unique(region))
        low, high, width = self.lows[pieces, axis], self.highs[pieces, axis], int(self.regions.highs[:, axis].max()) + 1
        order = np.argsort(region * width + place)
        keys, base = (region * width + place)[order], self.region[pieces] * width
        first, stop = np.searchsorted(keys, base + low, side="right"), np.searchsorted(keys, base + high, side="left")
        which, cut = _ranges(first, stop)
        at = place[order[cut]]
        lost = np.minimum(at - low[which], high[which] - at) * (self.piece_sizes[pieces] / (high - low))[which]
        lost = np.minimum(lost, self._spare[pieces][which])
        return np.bincount(order[cut], weights=lost, minlength=len(region)).astype(np.float64)

    def divided(self, splits: Sequence[Split]) -> Guide:
        """The guide after these splits, each of another region."""
        cuts = np.array([(split.region, split.axis, split.place) for split in splits], dtype=np.int64).reshape(-1, 3)
        if len(np.unique(cuts[:, 0])) < len(cuts) or cuts[:, 0].max(initial=-1) >= len(self.regions):
            raise InternalError("a guide divides each region once at a time", code="series-split")
        pieces, which = self._pieces_of(cuts[:, 0])
        axis, place, upper = cuts[which, 1], cuts[which, 2], len(self.regions) + which
        low, high = self.lows[pieces, axis], self.highs[pieces, axis]
        region = self.region.copy()
        region[pieces[low >= place]] = upper[low >= place]
        cut = (low < place) & (place < high)
        copied, axis, place = pieces[cut], axis[cut], place[cut]
        lows = np.concatenate([self.lows, self.lows[copied]])
        highs = np.concatenate([self.highs, self.highs[copied]])
        highs[copied, axis] = lows[np.arange(len(self.box), len(lows)), axis] = place
        region, box = np.concatenate([region, upper[cut]]), np.concatenate([self.box, self.box[copied]])
        return replace(self, regions=self.regions.divided(splits), region=region, box=box, lows=lows, highs=highs)

    def _pieces_of(self, chosen: Numbers) -> tuple[Numbers, Numbers]:
        """The pieces of boxes in the chosen regions, and in which of these each is."""
        number = np.full(len(self.regions), -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        pieces = np.flatnonzero(number[self.region] >= 0)
        return pieces, number[self.region[pieces]]


def _ranges(starts: Numbers, stops: Numbers) -> tuple[Numbers, Numbers]:
    """The whole numbers of all ranges one after another, and which range each belongs to."""
    counts = np.maximum(stops - starts, 0)
    which = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    numbers: Numbers = np.arange(int(counts.sum())) - (ends - counts - starts)[which]
    return which, numbers
