"""What regions lack for a split: how many rows, in which part, and how many more sensitive values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kohorte.engines.sensitive import SensitiveColumn
from kohorte.kernels.arrays import Bools
from kohorte.models import DistinctLDiversity, KAnonymity, PrivacyModel
from kohorte.models.sensitive import SensitiveModel
from kohorte.series.domain.axis import FREE, Axis
from kohorte.series.judge import Judge
from kohorte.series.splitting.candidates import Candidates, Gaps, OpenRegions, first_highest
from kohorte.series.target.guide import Guide

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Demands:
    """What the models ask of every group in numbers: rows, and different values of sensitive attributes.

    `others` are models that ask for something besides, which cannot be said in numbers.
    """

    least: int
    columns: tuple[SensitiveColumn, ...] = field(repr=False)
    fewest: tuple[int, ...]
    others: tuple[PrivacyModel, ...]

    @classmethod
    def of(cls, judge: Judge) -> Demands:
        """The demands of the models of a judge."""
        fewest: dict[str, int] = {}
        for model in judge.models:
            if isinstance(model, SensitiveModel):
                fewest[model.attribute] = max(model.fewest_values, fewest.get(model.attribute, 1))
        columns = tuple(column for column in judge.columns if fewest.get(column.name, 1) > 1)
        others = tuple(model for model in judge.models if not isinstance(model, KAnonymity | DistinctLDiversity))
        return cls(judge.least, columns, tuple(fewest[column.name] for column in columns), others)

    def lacks(self, sizes: Numbers, distinct: list[Numbers]) -> Numbers:
        """What each group lacks: rows in the first column, different values of each attribute in the others.

        A value that is lacking comes with a row of its own.
        """
        values = [np.maximum(0, wanted - found) for wanted, found in zip(self.fewest, distinct, strict=True)]
        rows = np.maximum.reduce([np.zeros_like(sizes), self.least - sizes, *values])
        return np.stack([rows, *values], axis=1)

    def named(self, lacks: Numbers) -> dict[str, int]:
        """How many values of which attribute one group lacks."""
        return {
            column.name: int(count) for column, count in zip(self.columns, lacks[1:].tolist(), strict=True) if count
        }

    def lacks_of_groups(self, group_of: Numbers, groups: int, rows: Numbers) -> Numbers:
        """The same for the groups of these rows."""
        distinct = []
        for column in self.columns:
            width = len(column.domain.overall)
            cells = np.unique(group_of * width + column.codes[rows]) // width
            distinct.append(np.bincount(cells, minlength=groups))
        return self.lacks(np.bincount(group_of, minlength=groups), distinct)


@dataclass(frozen=True, eq=False)
class WantedSplits:
    """For each region the split that lacks the fewest rows, those first that lessen the loss the most.

    `lower` and `upper` say what the parts lack: rows, then values of each sensitive attribute that is asked for.
    """

    candidates: Candidates
    lower: Numbers = field(repr=False)
    upper: Numbers = field(repr=False)


def wanted_splits(
    around: OpenRegions, demands: Demands, *, guide: Guide | None = None, settled: Bools | None = None
) -> WantedSplits:
    """Find what each open region lacks, along the target where it has not been reached.

    `settled` flags regions whose rows must stay together: only their empty parts can be cut off.
    """
    led = np.zeros(len(around.chosen), dtype=bool) if guide is None else ~guide.reached[around.chosen]
    found, lowers, uppers = [], [], []
    for number in range(len(around.axes)):
        rows = _SortedRows.of(around, number, demands)
        region, place = _cuts(around, rows, number, led, guide)
        lower, upper, gaps = rows.parts(region, place)
        usable = led[region] | _divides_first(around.axes[number], gaps, demands.least)
        if settled is not None:
            usable &= ~settled[region] | (gaps.lower == 0) | (gaps.upper == 0)
        found.append(around.candidates_at(number, gaps, place).select(usable))
        lowers.append(lower[usable])
        uppers.append(upper[usable])
    columns = ([getattr(one, name) for one in found] for name in ("region", "axis", "place", "gain"))
    every = Candidates(*(np.concatenate(column) for column in columns))
    return _best(every, np.concatenate(lowers), np.concatenate(uppers), demands)


def _best(every: Candidates, lower: Numbers, upper: Numbers, demands: Demands) -> WantedSplits:
    missing = lower[:, 0] + upper[:, 0]
    # one that lacks nothing is not among the candidates that are tried, unless a model beyond numbers refused it
    open_ = np.flatnonzero((missing > 0) | bool(demands.others))
    order = open_[np.lexsort((-every.gain[open_], missing[open_], every.region[open_]))]
    regions = every.region[order]
    first = order[np.append(True, regions[1:] != regions[:-1])[: len(order)]]
    ranked = first[np.argsort(-every.gain[first], kind="stable")]
    return WantedSplits(every.select(ranked), lower[ranked], upper[ranked])


def _cuts(
    around: OpenRegions, rows: _SortedRows, number: int, led: Bools, guide: Guide | None
) -> tuple[Numbers, Numbers]:
    """The regions and places that come into question along an axis: those of the target, and between rows."""
    gaps = _all_gaps(around, rows.keys, number)
    free = ~led[gaps.region]
    region, place = gaps.region[free], _places(around.axes[number], gaps)[free]
    if guide is None or not led.any():
        return region, place
    flagged = np.flatnonzero(led)
    owner, cuts = guide.coarser_cuts(around.chosen[flagged], number)
    return np.concatenate([region, flagged[owner]]), np.concatenate([place, cuts])


def _places(axis: Axis, gaps: Gaps) -> Numbers:
    """Where to cut: of measures in the middle between rows, of categories where the hierarchy divides them first."""
    if axis.measured:
        return np.where(gaps.stop == axis.known, gaps.stop, (gaps.start + gaps.stop) // 2)
    return first_highest(axis, gaps.start, gaps.stop + 1)


def _divides_first(axis: Axis, cuts: Gaps, least: int) -> Bools:
    """Which cuts are not below a level of the hierarchy at which there are rows enough: those are tried alone."""
    levels = axis.cut_levels[cuts.start]
    enough = (cuts.lower >= least) & (cuts.upper >= least)
    highest = np.full(int(cuts.region.max(initial=0)) + 1, FREE)
    np.maximum.at(highest, cuts.region[enough], levels[enough])
    first: Bools = (levels >= highest[cuts.region]) | (levels == FREE)
    return first


def _all_gaps(around: OpenRegions, keys: Numbers, number: int) -> Gaps:
    """All places between neighbouring rows of a region, and between them and its ends."""
    width = around.axes[number].length + 1
    occupied = np.unique(keys)
    owner, here = occupied // width, occupied % width
    first = np.append(True, owner[1:] != owner[:-1])[: len(owner)]
    last = np.append(owner[1:] != owner[:-1], True)[: len(owner)]
    lows, highs = (ends[around.chosen, number] for ends in (around.regions.lows, around.regions.highs))
    inner = np.flatnonzero(~last)
    known = np.minimum(highs[owner[last]], around.axes[number].known) - 1  # nobody is asked for missing values
    region = np.concatenate([owner[inner], owner[first], owner[last]])
    start = np.concatenate([here[inner] + 1, lows[owner[first]] + 1, here[last] + 1])
    stop = np.concatenate([here[inner + 1], here[first], known])
    real = start <= stop
    none = np.zeros(int(real.sum()), dtype=np.int64)
    return Gaps(region[real], start[real], stop[real], none, none)


@dataclass(frozen=True, eq=False)
class _SortedRows:
    """The rows of open regions, region by region and along an axis, so that any part of a region can be counted.

    `firsts` and `lasts` count, for each attribute, the rows so far that are the first or the last of their region with
    their value: between the beginning of a region and a place there are as many firsts as different values.
    """

    demands: Demands
    keys: Numbers
    width: int
    firsts: list[Numbers]
    lasts: list[Numbers]

    @classmethod
    def of(cls, around: OpenRegions, number: int, demands: Demands) -> _SortedRows:
        width = around.axes[number].length + 1
        keys = around.local * width + around.places[:, number]
        order = np.argsort(keys, kind="stable")
        cells = [
            around.local[order] * len(column.domain.overall) + column.codes[order].astype(np.int64)
            for column in demands.columns
        ]
        firsts = [_counted(np.unique(cell, return_index=True)[1], len(cell)) for cell in cells]
        lasts = [_counted(len(cell) - 1 - np.unique(cell[::-1], return_index=True)[1], len(cell)) for cell in cells]
        return cls(demands, keys[order], width, firsts, lasts)

    def parts(self, region: Numbers, place: Numbers) -> tuple[Numbers, Numbers, Gaps]:
        """What the lower and the upper parts lack, and how many rows they have."""
        begin, middle, end = (np.searchsorted(self.keys, region * self.width + at) for at in (0, place, self.width))
        gaps = Gaps(region, place, place, middle - begin, end - middle)
        lower = self.demands.lacks(gaps.lower, [count[middle] - count[begin] for count in self.firsts])
        upper = self.demands.lacks(gaps.upper, [count[end] - count[middle] for count in self.lasts])
        return lower, upper, gaps


def _counted(which: Numbers, rows: int) -> Numbers:
    """How many of the rows before each, and before the end, are among these."""
    flags = np.zeros(rows + 1, dtype=np.int64)
    flags[which + 1] = 1
    return np.cumsum(flags)
