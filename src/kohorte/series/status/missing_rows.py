"""What regions lack for a split: rows and sensitive values, and in which part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kohorte.kernels.arrays import Bools, Integers
from kohorte.models import DistinctLDiversity, KAnonymity, PrivacyModel
from kohorte.models.sensitive import SensitiveModel
from kohorte.series.domain.axis import FREE, Axis
from kohorte.series.splitting.candidates import Candidates, Gaps, OpenRegions, first_highest
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.target.guide import Guide
from kohorte.sources import SensitiveColumn


@dataclass(frozen=True, eq=False)
class Demands:
    """What the models require of every group as numbers: rows or people, and distinct values of sensitive attributes.

    `others` are models with further requirements, which are not numbers of rows or values.
    """

    least: int
    columns: tuple[SensitiveColumn, ...] = field(repr=False)
    fewest: tuple[int, ...]
    others: tuple[PrivacyModel, ...]
    check: GroupCheck = field(repr=False)

    @classmethod
    def of(cls, check: GroupCheck) -> Demands:
        """The demands of these models."""
        fewest: dict[str, int] = {}
        for model in check.models:
            if isinstance(model, SensitiveModel):
                fewest[model.attribute] = max(model.fewest_values, fewest.get(model.attribute, 1))
        columns = tuple(column for column in check.columns if fewest.get(column.name, 1) > 1)
        others = tuple(model for model in check.models if not isinstance(model, KAnonymity | DistinctLDiversity))
        return cls(check.least, columns, tuple(fewest[column.name] for column in columns), others, check)

    @property
    def unit(self) -> str:
        """What is missing, in words: one of them."""
        return "row" if self.check.persons is None else "person"

    def lacks(self, sizes: Integers, distinct: list[Integers]) -> Integers:
        """What each group lacks: rows (or people) in the first column, distinct values of each attribute in the others.

        Every missing value needs a row of its own; `sizes` are counted as the models count.
        """
        values = [np.maximum(0, wanted - found) for wanted, found in zip(self.fewest, distinct, strict=True)]
        rows = np.maximum.reduce([np.zeros_like(sizes), self.least - sizes, *values])
        return np.stack([rows, *values], axis=1)

    def named(self, lacks: Integers) -> dict[str, int]:
        """How many values of which attribute one group lacks."""
        return {
            column.name: int(count) for column, count in zip(self.columns, lacks[1:].tolist(), strict=True) if count
        }

    def lacks_of_groups(self, group_of: Integers, groups: int, rows: Integers) -> Integers:
        """The same for the groups of these rows."""
        distinct = []
        for column in self.columns:
            width = len(column.domain.overall)
            cells = np.unique(group_of * width + column.codes[rows]) // width
            distinct.append(np.bincount(cells, minlength=groups))
        return self.lacks(self.check.sizes(group_of, groups, rows), distinct)


@dataclass(frozen=True, eq=False)
class WantedSplits:
    """For each region the split that lacks the fewest rows, those that reduce the loss the most first.

    `lower` and `upper` tell what the parts lack: rows, then values of each sensitive attribute with a demand.
    """

    candidates: Candidates
    lower: Integers = field(repr=False)
    upper: Integers = field(repr=False)


def wanted_splits(
    around: OpenRegions, demands: Demands, *, guide: Guide | None = None, settled: Bools | None = None
) -> WantedSplits:
    """Find what each open region lacks for a split, towards the target where it has not been reached.

    `settled` flags regions whose rows must stay together: only their empty parts can be cut off.
    """
    led = np.zeros(len(around.chosen), dtype=bool) if guide is None else ~guide.reached[around.chosen]
    found, lowers, uppers = [], [], []
    for number in range(len(around.axes)):
        rows = _SortedRows.of(around, number, demands)
        region, position = _cuts(around, rows, number, led, guide)
        lower, upper, gaps = rows.parts(region, position)
        usable = led[region] | _divides_first(around.axes[number], gaps, demands.least)
        if settled is not None:
            usable &= ~settled[region] | (gaps.lower == 0) | (gaps.upper == 0)
        found.append(around.candidates_at(number, gaps, position).select(usable))
        lowers.append(lower[usable])
        uppers.append(upper[usable])
    return _best(Candidates.together(found), np.concatenate(lowers), np.concatenate(uppers), demands)


def _best(every: Candidates, lower: Integers, upper: Integers, demands: Demands) -> WantedSplits:
    missing = lower[:, 0] + upper[:, 0]
    # a split that lacks nothing has been made already, unless one of the other models refused it
    open_ = np.flatnonzero((missing > 0) | bool(demands.others))
    order = open_[np.lexsort((-every.gain[open_], missing[open_], every.region[open_]))]
    regions = every.region[order]
    first = order[np.append(True, regions[1:] != regions[:-1])[: len(order)]]
    ranked = first[np.argsort(-every.gain[first], kind="stable")]
    return WantedSplits(every.select(ranked), lower[ranked], upper[ranked])


def _cuts(
    around: OpenRegions, rows: _SortedRows, number: int, led: Bools, guide: Guide | None
) -> tuple[Integers, Integers]:
    """The possible cuts along an axis, as regions and positions: those of the target, and those between rows."""
    gaps = _all_gaps(around, rows.keys, number)
    free = ~led[gaps.region]
    region, position = gaps.region[free], _positions(around.axes[number], gaps)[free]
    if guide is None or not led.any():
        return region, position
    flagged = np.flatnonzero(led)
    owner, cuts = guide.coarser_cuts(around.chosen[flagged], number)
    return np.concatenate([region, flagged[owner]]), np.concatenate([position, cuts])


def _positions(axis: Axis, gaps: Gaps) -> Integers:
    """Where to cut: numbers in the middle between rows, categories where the hierarchy divides them first."""
    if axis.measured:
        return np.where(gaps.stop == axis.known, gaps.stop, (gaps.start + gaps.stop) // 2)
    return first_highest(axis, gaps.start, gaps.stop + 1)


def _divides_first(axis: Axis, cuts: Gaps, least: int) -> Bools:
    """Which cuts are not below a level of the hierarchy that has enough rows: only these are tried."""
    levels = axis.cut_levels[cuts.start]
    enough = (cuts.lower >= least) & (cuts.upper >= least)
    highest = np.full(int(cuts.region.max(initial=0)) + 1, FREE)
    np.maximum.at(highest, cuts.region[enough], levels[enough])
    first: Bools = (levels >= highest[cuts.region]) | (levels == FREE)
    return first


def _all_gaps(around: OpenRegions, keys: Integers, number: int) -> Gaps:
    """All positions between neighbouring rows of a region, and between them and its ends."""
    width = around.axes[number].length + 1
    occupied = np.unique(keys)
    owner, here = occupied // width, occupied % width
    first = np.append(True, owner[1:] != owner[:-1])[: len(owner)]
    last = np.append(owner[1:] != owner[:-1], True)[: len(owner)]
    lows, highs = (ends[around.chosen, number] for ends in (around.regions.lows, around.regions.highs))
    inner = np.flatnonzero(~last)
    known = np.minimum(highs[owner[last]], around.axes[number].known) - 1  # rows without a value are not asked for
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
    their value: between the start of a region and a position there are as many firsts as distinct values.
    """

    demands: Demands
    keys: Integers
    width: int
    firsts: list[Integers]
    lasts: list[Integers]
    by_people: bool

    @classmethod
    def of(cls, around: OpenRegions, number: int, demands: Demands) -> _SortedRows:
        width = around.axes[number].length + 1
        keys = around.local * width + around.positions[:, number]
        order = np.argsort(keys, kind="stable")
        cells = [
            around.local[order] * len(column.domain.overall) + column.codes[order].astype(np.int64)
            for column in demands.columns
        ]
        persons = demands.check.persons
        if persons is not None:  # people are counted like values
            cells.append(around.local[order] * persons.count + persons.codes[order].astype(np.int64))
        firsts = [_counted(np.unique(cell, return_index=True)[1], len(cell)) for cell in cells]
        lasts = [_counted(len(cell) - 1 - np.unique(cell[::-1], return_index=True)[1], len(cell)) for cell in cells]
        return cls(demands, keys[order], width, firsts, lasts, persons is not None)

    def parts(self, region: Integers, position: Integers) -> tuple[Integers, Integers, Gaps]:
        """What the lower and the upper parts lack, and how many rows they have."""
        begin, middle, end = (np.searchsorted(self.keys, region * self.width + at) for at in (0, position, self.width))
        gaps = Gaps(region, position, position, middle - begin, end - middle)
        below = [count[middle] - count[begin] for count in self.firsts]
        above = [count[end] - count[middle] for count in self.lasts]
        sizes = (below.pop(), above.pop()) if self.by_people else (gaps.lower, gaps.upper)
        return self.demands.lacks(sizes[0], below), self.demands.lacks(sizes[1], above), gaps


def _counted(which: Integers, rows: int) -> Integers:
    """How many of these rows come before each row, and before the end."""
    flags = np.zeros(rows + 1, dtype=np.int64)
    flags[which + 1] = 1
    return np.cumsum(flags)
