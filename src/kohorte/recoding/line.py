"""The values of a quasi-identifier on a line, so that a cell of a recoded table is an interval of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.engines import EncodedColumn
from kohorte.hierarchy import SUPPRESSED, Builder, Intervals, Ordering
from kohorte.hierarchy.labels import quoted
from kohorte.hierarchy.order import dates, numbers, sort_keys
from kohorte.kernels.arrays import Codes, Floats

SIGNS = "-–[]"
"""Signs that must not stand in the ends of an interval that is written [a-b]."""
OR_MISSING = " or missing"
"""What a cell shows besides where some of the values that it stands for are missing."""


@dataclass(frozen=True, eq=False)
class Line:
    """The values of a column in an order in which every group of its hierarchy is an interval.

    A place of the line is a group of the finest level that may be shown. Missing values come last. `measured`: the
    values are numbers or dates, so that an interval of places is shown by its ends (or by the groups at its ends, where
    values may not be shown); otherwise it is shown by the labels of the groups that it consists of. `ordered`:
    neighbours on the line belong together, by their order or by a hierarchy; without either, the order is that of the
    text and means nothing.
    """

    column: EncodedColumn = field(repr=False)
    builder: Builder | None = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)  # the codes, in their order on the line
    measured: bool
    ordered: bool

    @cached_property
    def places(self) -> Codes:
        """The place of every code."""
        groups = self.column.maps[0][self.order]
        steps = np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])]) if len(groups) else groups
        places = np.empty(len(self.order), dtype=np.uint32)
        places[self.order] = steps
        return places

    @cached_property
    def length(self) -> int:
        """How many places there are."""
        return int(self.places.max(initial=0)) + 1

    @cached_property
    def groups(self) -> tuple[Codes, ...]:
        """The group that every place falls into, level by level."""
        first = np.full(self.length, -1, dtype=np.int64)
        first[self.places[self.order[::-1]]] = self.order[::-1]
        return tuple(level[first] for level in self.column.maps)

    @cached_property
    def ends(self) -> tuple[tuple[Codes, Codes], ...]:
        """The first and the last place of every group, level by level."""
        return tuple(_ends(level) for level in self.groups)

    @cached_property
    def cut_levels(self) -> Codes:
        """For every place but the first: the highest level that tells it from the place before; of measures, 0."""
        levels = np.zeros(max(0, self.length - 1), dtype=np.uint32)
        if not self.measured:
            for level, groups in enumerate(self.groups):
                levels[groups[1:] != groups[:-1]] = level
        return levels

    @cached_property
    def measures(self) -> Floats:
        """How far each place lies from the beginning of the line, as a share of the line."""
        if self.measured and self._range:
            along = self._measures[1] - self._measures[0][0]
            measures: Floats = np.nan_to_num(np.minimum(1.0, along / self._range), nan=1.0)
            return measures
        return np.arange(self.length) / max(1, self.length - 1)

    # What a cell shows

    def labels(self, lows: Codes, highs: Codes) -> list[str | None]:
        """What cells show that cover the places from `lows` to `highs`."""
        return [self._label(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]

    def _label(self, low: int, high: int) -> str | None:
        if low == high:
            return self._alone[low]
        if self._alone[high] is None:  # missing values, which labels do not name unless a hierarchy does
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
        """The cell as whole groups: those of the level below the lowest at which one group covers it all."""
        if self.measured or low == high:
            return low, high
        level = next(level for level, groups in enumerate(self.groups) if groups[low] == groups[high])
        firsts, lasts = self.ends[max(0, level - 1)]
        groups = self.groups[max(0, level - 1)]
        return int(firsts[groups[low]]), int(lasts[groups[high]])

    @cached_property
    def _alone(self) -> list[str | None]:
        """What every place shows by itself."""
        labels = self.column.labels[0]
        return [labels[group] for group in self.groups[0].tolist()]

    def shares(self, lows: Codes, highs: Codes) -> Floats:
        """The share of the domain that each cell does not tell apart; that a value may be missing adds nothing."""
        missing = np.array([label is None for label in self._alone])
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
        """How far the ends of cells are apart; where groups are shown, from the beginning of one to the end of one."""
        firsts, lasts = self._measures
        apart: Floats = lasts[highs] - firsts[lows]
        return apart

    def heights(self, lows: Codes, highs: Codes) -> Floats:
        """The lowest level, as the hierarchy counts them, with a group that covers each cell."""
        heights = np.full(len(lows), float(self.column.hierarchy.top))
        for level in reversed(range(len(self.groups))):
            heights[self.groups[level][lows] == self.groups[level][highs]] = level + self.column.finest
        return heights

    def _parts(self, low: int, high: int) -> tuple[int, list[int]]:
        """The finest group that is all of the cell, or the groups of the highest level of which it is a union."""
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
        """The first and the last value of every place."""
        firsts: list[str | None] = [None] * self.length
        lasts: list[str | None] = [None] * self.length
        for code in self.order.tolist():
            place = self.places[code]
            firsts[place] = firsts[place] or self.column.values[code]
            lasts[place] = self.column.values[code]
        return firsts, lasts

    def _ends_in_text(self, place: int) -> tuple[str, str]:
        """What stands at the lower and at the upper end of an interval that begins or ends with a place."""
        firsts, lasts = self._texts if not self.column.finest else (self._alone, self._alone)
        return str(firsts[place]), str(lasts[place])

    @cached_property
    def _measures(self) -> tuple[Floats, Floats]:
        """Where every place begins and ends, as a number: that of its values, or of its group where that is shown."""
        measure = self._measure_of_value
        firsts, lasts = (
            np.array([np.nan if text is None else measure[text] for text in texts]) for texts in self._texts
        )
        if not self.column.finest:
            return firsts, lasts
        return self._ends_of_groups(firsts, lasts)

    def _ends_of_groups(self, firsts: Floats, lasts: Floats) -> tuple[Floats, Floats]:
        """Where the group of each place begins and ends, be it with values that the data do not have."""
        known = [place for place, text in enumerate(self._texts[0]) if text is not None]
        texts = pl.Series([self._texts[0][place] for place in known], dtype=pl.String)
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
        if keys is None:  # the hierarchy knows more than numbers and dates: rank what the data have
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
    places = np.arange(len(groups), dtype=np.uint32)
    firsts[groups[::-1]] = places[::-1]
    lasts[groups] = places
    return firsts, lasts


def _interval(low: str, high: str) -> str:
    """An interval by its ends, as published: [25-28]; with blanks where the ends have such signs themselves."""
    if any(sign in low or sign in high for sign in SIGNS):
        return f"[{quoted(low, '–[]')} – {quoted(high, '–[]')}]"
    return f"[{low}-{high}]"


def line_of(column: EncodedColumn, builder: Builder | None) -> Line:
    """Put the values of a column on a line: by number or date where its hierarchy allows, else as that lists them."""
    known = [code for code, value in enumerate(column.values) if value is not None]
    texts = pl.Series([column.values[code] for code in known], dtype=pl.String)
    keys = sort_keys(texts, builder)
    listed = isinstance(builder, Ordering) and builder.values is not None
    measured = not listed and (dates(texts, builder) is not None or numbers(texts, builder) is not None)
    ordered = keys is not None or builder is not None or len(known) <= 2
    ranks = _ranks(column, known, keys if keys is not None else column.hierarchy.encode(texts).tolist())
    plain = np.argsort(ranks, kind="stable")
    if keys is not None and all(_contiguous(level[plain]) for level in column.maps):
        return Line(column, builder, plain, measured=measured, ordered=ordered)
    return Line(column, builder, _by_hierarchy(column, ranks), measured=False, ordered=ordered)


def _ranks(column: EncodedColumn, known: Sequence[int], keys: Sequence[Any]) -> NDArray[np.int64]:
    """A number for every code to sort by; equal keys share it, missing comes last."""
    places = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    ranks = np.full(len(column.values), len(places), dtype=np.int64)
    ranks[list(known)] = [places[key] for key in keys]
    return ranks


def _contiguous(groups: Codes) -> bool:
    """Tell whether equal groups stand together."""
    return int(np.count_nonzero(groups[1:] != groups[:-1])) + 1 == len(np.unique(groups)) if len(groups) else True


def _by_hierarchy(column: EncodedColumn, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The codes as a walk through the hierarchy meets them, each group where its first member is."""
    keys = [ranks]
    for level in column.maps:
        first = np.full(int(level.max(initial=0)) + 1, len(ranks) + 1, dtype=np.int64)
        np.minimum.at(first, level, ranks)
        by_group = np.argsort(np.lexsort((np.arange(len(first)), first)))
        keys.append(by_group[level])
    return np.lexsort(keys)
