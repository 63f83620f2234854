"""The values of a quasi-identifier in a fixed order: a cell of a recoded table is an interval of this line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.hierarchies import SUPPRESSED, Builder, Intervals, Ordering
from kohorte.hierarchies.labels import quoted
from kohorte.hierarchies.order import dates, numbers, sort_keys
from kohorte.kernels.arrays import Codes, Floats, Integers
from kohorte.recoding.ticks import Place, places_of, whole_steps
from kohorte.sources import EncodedColumn

SIGNS = "-–[]"
"""Signs that the ends of an interval written as [a-b] must not contain."""
OR_MISSING = " or missing"
"""Added to a label if the cell also covers missing values."""


@dataclass(frozen=True, eq=False)
class Line:
    """The values of a column in an order in which every group of its hierarchy is an interval, unless it is measured.

    Each position of the line is a group of the finest level that may be shown. Missing values come last. `measured`:
    the values are numbers or dates and have their order, whatever the hierarchy groups, and an interval is shown by its
    ends (or by the groups at its ends, if values may not be shown); otherwise an interval is shown by the labels of its
    groups. `ordered`: neighbours belong together, by their order or by a hierarchy; without either, the order is
    alphabetical and has no meaning.
    """

    column: EncodedColumn = field(repr=False)
    builder: Builder | None = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)  # the codes, in their order on the line
    measured: bool
    ordered: bool

    @cached_property
    def positions(self) -> Codes:
        """The position of every code."""
        groups = self.column.maps[0][self.order]
        steps = np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])]) if len(groups) else groups
        positions = np.empty(len(self.order), dtype=np.uint32)
        positions[self.order] = steps
        return positions

    @cached_property
    def length(self) -> int:
        """The number of positions."""
        return int(self.positions.max(initial=0)) + 1

    @cached_property
    def groups(self) -> tuple[Codes, ...]:
        """The group of every position, level by level."""
        first = np.full(self.length, -1, dtype=np.int64)
        first[self.positions[self.order[::-1]]] = self.order[::-1]
        return tuple(level[first] for level in self.column.maps)

    @cached_property
    def ends(self) -> tuple[tuple[Codes, Codes], ...]:
        """The first and the last position of every group, level by level."""
        return tuple(_ends(level) for level in self.groups)

    @cached_property
    def cut_levels(self) -> Codes:
        """The highest level that separates each position from the one before it; 0 on a measured line."""
        levels = np.zeros(max(0, self.length - 1), dtype=np.uint32)
        if not self.measured:
            for level, groups in enumerate(self.groups):
                levels[groups[1:] != groups[:-1]] = level
        return levels

    @cached_property
    def missing(self) -> int:
        """The position of missing values, if they have no label in the hierarchy; otherwise the length."""
        return self._single_labels.index(None) if None in self._single_labels else self.length

    @cached_property
    def leaves(self) -> Floats:
        """How many values of the hierarchy each position stands for; missing values count as none."""
        last = len(self.column.hierarchy.values) - 1
        leaves: Floats = self.column.shares[0][self.groups[0]] * last + 1
        leaves[self.missing :] = 0
        return leaves

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Where each position of a measured line begins and ends, as shares of the range; 0 for missing values."""
        firsts, lasts = self._measures
        if not self._range or np.isnan(firsts).all():
            return np.zeros(self.length), np.zeros(self.length)
        start = np.nanmin(firsts)
        begins, ends = (np.clip(np.nan_to_num((some - start) / self._range), 0.0, 1.0) for some in (firsts, lasts))
        return begins, ends

    @cached_property
    def measures(self) -> Floats:
        """The distance of each position from the beginning of the line, as a share of its length."""
        if self.measured and self._range:
            along = self._measures[1] - self._measures[0][0]
            measures: Floats = np.nan_to_num(np.minimum(1.0, along / self._range), nan=1.0)
            return measures
        return np.arange(self.length) / max(1, self.length - 1)

    @cached_property
    def ticks(self) -> Integers:
        """The distance of each position from the first, in whole steps: by value if measured, otherwise by position.

        A position with several values, or with a group of them, lies where its last value does. Missing values lie
        where the last known value does.
        """
        known = [position for position, text in enumerate(self._texts[1]) if text is not None]
        places = self._places(known) if self.measured else None
        if places is None:
            return np.arange(self.length, dtype=np.int64)
        steps = whole_steps(places)
        ticks = np.full(self.length, int(steps.max(initial=0)), dtype=np.int64)
        ticks[known] = steps
        return np.maximum.accumulate(ticks)

    def _places(self, known: Sequence[int]) -> list[Place] | None:
        """Where the values of these positions lie; if groups are shown, where the groups end."""
        texts = pl.Series([self._texts[1][position] for position in known], dtype=pl.String)
        if not self.column.finest:
            return places_of(texts, self.builder)
        if isinstance(self.builder, Intervals):
            return [Fraction(repr(end)) for end in self.builder.ends(texts, self.column.finest)[1].tolist()]
        hierarchy = self.column.hierarchy
        places = places_of(pl.Series(hierarchy.values, dtype=pl.String), self.builder)
        if places is None:
            return None
        groups, last = hierarchy.groups[self.column.finest], dict[int, Place]()
        for group, place in zip(groups.tolist(), places, strict=True):
            last[group] = max(place, last.get(group, place))
        return [last[group] for group in groups[hierarchy.encode(texts)].tolist()]

    # Labels, shares and heights of cells

    def labels(self, lows: Codes, highs: Codes) -> list[str | None]:
        """The labels of cells that cover the positions from `lows` to `highs`."""
        return [self._label(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]

    def _label(self, low: int, high: int) -> str | None:
        if low == high:
            return self._single_labels[low]
        if self._single_labels[high] is None:  # missing values, without a label in the hierarchy
            if not self.measured and high - low + 1 == self.length:
                return SUPPRESSED
            return f"{self._label(low, high - 1)}{OR_MISSING}"
        if self.measured:
            return _interval(self._ends_in_text(low)[0], self._ends_in_text(high)[1])
        level, groups = self._parts(low, high)
        if len(groups) == 1:
            label: str | None = self.column.labels[level][groups[0]]
            return label
        names = [self.column.labels[level][group] for group in groups]
        named = [quoted(name, ",{}") for name in names if name is not None]
        text = named[0] if len(named) == 1 else "{" + ", ".join(named) + "}"
        return text + OR_MISSING if None in names else text

    def snapped(self, low: int, high: int) -> tuple[int, int]:
        """Extend a cell to whole groups, one level below the lowest level at which a single group covers it."""
        if self.measured or low == high:
            return low, high
        level = next(level for level, groups in enumerate(self.groups) if groups[low] == groups[high])
        firsts, lasts = self.ends[max(0, level - 1)]
        groups = self.groups[max(0, level - 1)]
        return int(firsts[groups[low]]), int(lasts[groups[high]])

    def names(self) -> list[str | None]:
        """The label of every single position."""
        return list(self._single_labels)

    @cached_property
    def _single_labels(self) -> list[str | None]:
        """The label of every single position."""
        labels = self.column.labels[0]
        return [labels[group] for group in self.groups[0].tolist()]

    def shares(self, lows: Codes, highs: Codes) -> Floats:
        """The share of the domain that each cell covers; missing values add nothing."""
        missing = np.array([label is None for label in self._single_labels])
        starred = (lows < highs) & (highs - lows + 1 == self.length) & missing[highs] & (not self.measured)
        highs = np.where(lows < highs, highs - missing[highs], highs)
        if self.measured and self._range:
            shares: Floats = np.minimum(1.0, self._widths(lows, highs) / self._range)
        else:
            pairs = zip(lows.tolist(), highs.tolist(), strict=True)
            shares = np.array([self._share_of_groups(low, high) for low, high in pairs])
        shares = np.where(lows == highs, self.column.shares[0][self.groups[0][lows]], shares)
        return np.where(starred, self.column.shares[-1][self.groups[-1][lows]], shares)

    def _share_of_groups(self, low: int, high: int) -> float:
        level, groups = self._parts(low, high)
        leaves = len(self.column.hierarchy.values) - 1
        covered = sum(float(self.column.shares[level][group]) * leaves + 1 for group in groups) - 1
        return min(1.0, covered / leaves) if leaves else 0.0

    def _widths(self, lows: Codes, highs: Codes) -> Floats:
        """The distance between the ends of each cell: from the beginning of its first group to the end of its last."""
        firsts, lasts = self._measures
        apart: Floats = lasts[highs] - firsts[lows]
        return apart

    def heights(self, lows: Codes, highs: Codes) -> Floats:
        """The lowest level of the hierarchy with a group that covers each cell."""
        heights = np.full(len(lows), float(self.column.hierarchy.top))
        for level, groups in reversed(list(enumerate(self.groups))):
            changes = np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])])  # groups may occur in several places
            heights[changes[lows] == changes[highs]] = level + self.column.finest
        return heights

    def _parts(self, low: int, high: int) -> tuple[int, list[int]]:
        """The level and the groups that make up a cell: one group, or groups of the highest possible level."""
        for level, (firsts, lasts) in enumerate(self.ends):
            group = int(self.groups[level][low])
            if (firsts[group], lasts[group]) == (low, high):
                return level, [group]
        for level in range(len(self.groups) - 1, 0, -1):
            firsts, lasts = self.ends[level]
            if firsts[self.groups[level][low]] >= low and lasts[self.groups[level][high]] <= high:
                return level, list(dict.fromkeys(self.groups[level][low : high + 1].tolist()))
        return 0, list(dict.fromkeys(self.groups[0][low : high + 1].tolist()))

    @cached_property
    def _texts(self) -> tuple[list[str | None], list[str | None]]:
        """The first and the last value of every position."""
        firsts: list[str | None] = [None] * self.length
        lasts: list[str | None] = [None] * self.length
        for code in self.order.tolist():
            position = self.positions[code]
            firsts[position] = firsts[position] or self.column.values[code]
            lasts[position] = self.column.values[code]
        return firsts, lasts

    def _ends_in_text(self, position: int) -> tuple[str, str]:
        """The text of the lower end of an interval that begins here, and of the upper end of one that ends here."""
        firsts, lasts = self._texts if not self.column.finest else (self._single_labels, self._single_labels)
        return str(firsts[position]), str(lasts[position])

    @cached_property
    def _measures(self) -> tuple[Floats, Floats]:
        """The numbers at which every position begins and ends: those of its values, or of its group if shown."""
        measure = self._measure_of_value
        firsts, lasts = (
            np.array([np.nan if text is None else measure[text] for text in texts]) for texts in self._texts
        )
        if not self.column.finest:
            return firsts, lasts
        return self._ends_of_groups(firsts, lasts)

    def _ends_of_groups(self, firsts: Floats, lasts: Floats) -> tuple[Floats, Floats]:
        """The numbers at which the group of each position begins and ends; the data need not contain these values."""
        known = [position for position, text in enumerate(self._texts[0]) if text is not None]
        texts = pl.Series([self._texts[0][position] for position in known], dtype=pl.String)
        if isinstance(self.builder, Intervals):
            firsts[known], lasts[known] = self.builder.ends(texts, self.column.finest)
            return firsts, lasts
        hierarchy = self.column.hierarchy
        group_of_value = hierarchy.groups[self.column.finest]
        measures = np.array([self._measure_of_value.get(value, np.nan) for value in hierarchy.values])
        lowest = np.full(int(group_of_value.max(initial=0)) + 1, np.inf)
        highest = np.full(len(lowest), -np.inf)
        np.fmin.at(lowest, group_of_value, measures)
        np.fmax.at(highest, group_of_value, measures)
        groups = group_of_value[hierarchy.encode(texts)]
        firsts[known], lasts[known] = lowest[groups], highest[groups]
        return firsts, lasts

    @cached_property
    def _measure_of_value(self) -> dict[str, float]:
        known = pl.Series(self.column.hierarchy.values, dtype=pl.String)
        if isinstance(self.builder, Intervals):
            exact = numbers(known, self.builder) or []
            return {value: float(number) for value, number in zip(known, exact, strict=True)}
        keys = sort_keys(known, self.builder)
        if keys is None:  # the hierarchy has other values, too: rank those of the data
            values = (self.column.values[code] for code in self.order.tolist())
            return {value: float(rank) for rank, value in enumerate(values) if value is not None}
        ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return {value: float(ranks[key]) for value, key in zip(known, keys, strict=True)}

    @cached_property
    def _range(self) -> float:
        if isinstance(self.builder, Intervals):
            return self.builder.range
        return float(len(self.column.hierarchy.values) - 1)


def _ends(groups: Codes) -> tuple[Codes, Codes]:
    count = int(groups.max(initial=0)) + 1
    firsts, lasts = np.zeros(count, dtype=np.uint32), np.zeros(count, dtype=np.uint32)
    positions = np.arange(len(groups), dtype=np.uint32)
    firsts[groups[::-1]] = positions[::-1]
    lasts[groups] = positions
    return firsts, lasts


def _interval(low: str, high: str) -> str:
    """An interval as LeFevre et al. (2006) write it: [25-28]; with blanks if the ends contain such signs."""
    if any(sign in low or sign in high for sign in SIGNS):
        return f"[{quoted(low, '–[]')} – {quoted(high, '–[]')}]"
    return f"[{low}-{high}]"


def line_of(column: EncodedColumn, builder: Builder | None) -> Line:
    """Put the values of a column on a line: by number or date if its hierarchy allows, otherwise in its order."""
    known = [code for code, value in enumerate(column.values) if value is not None]
    texts = pl.Series([column.values[code] for code in known], dtype=pl.String)
    keys = sort_keys(texts, builder)
    listed = isinstance(builder, Ordering) and builder.values is not None
    measured = not listed and (dates(texts, builder) is not None or numbers(texts, builder) is not None)
    ordered = keys is not None or builder is not None or len(known) <= 2
    ranks = _ranks(column, known, keys if keys is not None else column.hierarchy.encode(texts).tolist())
    plain = np.argsort(ranks, kind="stable")
    if keys is not None and all(_contiguous(level[plain]) for level in column.maps[: 1 if measured else None]):
        return Line(column, builder, plain, measured=measured, ordered=ordered)
    return Line(column, builder, _by_hierarchy(column, ranks), measured=False, ordered=ordered)


def by_hierarchy(line: Line) -> Line:
    """The same values in an order in which every group of the hierarchy is an interval."""
    if not line.measured:
        return line
    ranks = np.empty(len(line.order), dtype=np.int64)
    ranks[line.order] = np.arange(len(line.order))
    order = _by_hierarchy(line.column, ranks)
    return Line(line.column, line.builder, order, measured=False, ordered=line.ordered)


def _ranks(column: EncodedColumn, known: Sequence[int], keys: Sequence[Any]) -> NDArray[np.int64]:
    """The rank of every code; equal keys have the same rank, missing comes last."""
    positions = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    ranks = np.full(len(column.values), len(positions), dtype=np.int64)
    ranks[list(known)] = [positions[key] for key in keys]
    return ranks


def _contiguous(groups: Codes) -> bool:
    """Tell whether each group is an interval."""
    return int(np.count_nonzero(groups[1:] != groups[:-1])) + 1 == len(np.unique(groups)) if len(groups) else True


def _by_hierarchy(column: EncodedColumn, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The codes in the order of a walk through the hierarchy; groups are ordered by their first members."""
    keys = [ranks]
    for level in column.maps:
        first = np.full(int(level.max(initial=0)) + 1, len(ranks) + 1, dtype=np.int64)
        np.minimum.at(first, level, ranks)
        by_group = np.argsort(np.lexsort((np.arange(len(first)), first)))
        keys.append(by_group[level])
    return np.lexsort(keys)
