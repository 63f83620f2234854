"""The cells of a recoded table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import polars as pl

from kohorte.errors import InternalError
from kohorte.groups import RecodedColumn
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels import Grouper
from kohorte.kernels.arrays import Bools, Codes, Floats
from kohorte.recoding.line import OR_MISSING, Line


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one quasi-identifier: row `r` shows a cell of the kind `kinds[r]`.

    A kind covers the positions from `lows[kind]` to `highs[kind]` of the line. Its label is `labels[kind]`; all labels
    are different.
    """

    line: Line = field(repr=False)
    kinds: Codes = field(repr=False)
    lows: Codes = field(repr=False)
    highs: Codes = field(repr=False)
    labels: tuple[str | None, ...] = field(repr=False)
    shares: Floats = field(repr=False)
    heights: Floats = field(repr=False)
    shows_ends: bool = False  # the labels are intervals that end at values of the data
    lists_values: bool = False  # the labels are sets of exactly the values that occur in a class
    ambiguous: bool = False  # a label has different meanings in different rows

    @classmethod
    def of_intervals(cls, line: Line, lows: Codes, highs: Codes, which: Codes, *, snapped: bool = False) -> Cells:
        """Cells that cover an interval of positions each, shown by its ends or by its groups.

        Row `r` shows interval `which[r]`. If `snapped`, intervals on a line that is not measured grow to whole groups
        of the hierarchy. Missing values are the last position: an interval with them covers all known values from its
        low.
        """
        keys, kinds = np.unique(lows.astype(np.int64) * line.length + highs, return_inverse=True)
        lows, highs = (keys // line.length).astype(np.uint32), (keys % line.length).astype(np.uint32)
        if snapped and not line.measured:
            pairs = [line.snapped(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
            lows, highs = np.array(pairs, dtype=np.uint32).T
        cells = cls._merged(
            line,
            kinds.astype(np.uint32)[which],
            lows,
            highs,
            labels=line.labels(lows, highs),
            shares=line.shares(lows, highs),
            heights=line.heights(lows, highs),
        )
        return replace(cells, shows_ends=line.measured and not line.column.finest and bool((lows < highs).any()))

    @classmethod
    def of_known_intervals(cls, line: Line, lows: Codes, highs: Codes, missing: Bools, which: Codes) -> Cells:
        """The same for intervals of known positions; those that are `missing` cover missing values, too."""
        wide = missing & (line.measured | (lows > 0) | (highs + 1 < line.missing))
        apart = np.where(missing & ~wide, line.missing, highs).astype(np.uint32)
        _, first, kinds = np.unique(
            np.stack([lows, apart, wide], axis=1), axis=0, return_index=True, return_inverse=True
        )
        lows, apart, wide = lows[first], apart[first], wide[first]
        labels = line.labels(lows, apart)
        ends = np.where(wide, line.missing, apart).astype(np.uint32)
        cells = cls._merged(
            line,
            kinds.reshape(-1).astype(np.uint32)[which],
            lows,
            ends,
            labels=[
                str(label) + OR_MISSING if more else label for label, more in zip(labels, wide.tolist(), strict=True)
            ],
            shares=line.shares(lows, apart),
            heights=line.heights(lows, ends),
        )
        shows = line.measured and not line.column.finest and bool((lows < apart).any())
        return replace(cells, shows_ends=shows)

    @classmethod
    def of_levels(cls, line: Line, levels: Codes, codes: Codes) -> Cells:
        """Cells at one level of the hierarchy per row; level 0 is the finest that may be shown."""
        column = line.column
        widest = max(len(labels) for labels in column.labels)
        groups = np.zeros(len(codes), dtype=np.int64)
        for level in np.unique(levels).tolist():
            here = levels == level
            groups[here] = column.maps[level][codes[here]]
        keys, kinds = np.unique(levels.astype(np.int64) * widest + groups, return_inverse=True)
        positions = [(int(key) // widest, int(key) % widest) for key in keys]
        return cls._merged(
            line,
            kinds.astype(np.uint32),
            np.array([line.ends[level][0][group] for level, group in positions], dtype=np.uint32),
            np.array([line.ends[level][1][group] for level, group in positions], dtype=np.uint32),
            labels=[column.labels[level][group] for level, group in positions],
            shares=np.array([column.shares[level][group] for level, group in positions]),
            heights=np.array([float(level + column.finest) for level, _ in positions]),
        )

    @classmethod
    def _merged(
        cls,
        line: Line,
        kinds: Codes,
        lows: Codes,
        highs: Codes,
        *,
        labels: list[str | None],
        shares: Floats,
        heights: Floats,
    ) -> Cells:
        """Merge kinds that have the same label; the merged kind covers all that they cover."""
        numbers: dict[str | None, int] = {}
        renumber = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.uint32)
        first, last = np.full(len(numbers), line.length - 1, dtype=np.uint32), np.zeros(len(numbers), dtype=np.uint32)
        merged_shares, merged_heights = np.zeros(len(numbers)), np.zeros(len(numbers))
        np.minimum.at(first, renumber, lows)
        np.maximum.at(last, renumber, highs)
        np.maximum.at(merged_shares, renumber, shares)
        np.maximum.at(merged_heights, renumber, heights)
        if SUPPRESSED in numbers:
            star = numbers[SUPPRESSED]
            first[star], last[star] = 0, line.length - 1
            merged_heights[star] = line.column.hierarchy.top
        unlike = (first[renumber] != lows) | (last[renumber] != highs)
        ambiguous = bool((unlike & np.array([label != SUPPRESSED for label in labels], dtype=bool)).any())
        cells = cls(line, renumber[kinds], first, last, tuple(numbers), merged_shares, merged_heights)
        return replace(cells, ambiguous=ambiguous)

    @cached_property
    def starred(self) -> Bools:
        """Tell for each row whether it shows `*`."""
        is_star = np.array([label == SUPPRESSED for label in self.labels], dtype=bool)
        return is_star[self.kinds]

    def with_stars(self, rows: Bools) -> Cells:
        """The same cells, with `*` in these rows."""
        if not rows.any():
            return self
        tops = np.full(len(self.kinds), len(self.line.column.maps) - 1, dtype=np.uint32)
        star = Cells.of_levels(self.line, tops[:1], self.line.column.codes[:1])
        if SUPPRESSED in self.labels:
            return replace(self, kinds=np.where(rows, np.uint32(self.labels.index(SUPPRESSED)), self.kinds))
        return replace(
            self,
            kinds=np.where(rows, np.uint32(len(self.labels)), self.kinds),
            lows=np.append(self.lows, star.lows),
            highs=np.append(self.highs, star.highs),
            labels=(*self.labels, *star.labels),
            shares=np.append(self.shares, star.shares),
            heights=np.append(self.heights, star.heights),
        )

    def refuse_untrue(self, rows: Bools) -> None:
        """Raise an error if a cell does not cover the value of its row; that would be a bug."""
        positions = self.line.positions[self.line.column.codes[rows]]
        kinds = self.kinds[rows]
        if ((positions < self.lows[kinds]) | (positions > self.highs[kinds])).any():
            raise InternalError(
                f"column {self.line.column.name!r}: a cell does not cover the value it stands for; please report this",
                code="recoding-untrue",
            )

    def shown(self, kept: Bools) -> pl.Series:
        """The released column, with `*` in rows that are not kept."""
        labels = pl.Series(self.line.column.name, self.labels, dtype=pl.String).gather(self.kinds)
        if kept.all():
            return labels
        return labels.zip_with(pl.Series(kept), pl.Series([SUPPRESSED]).new_from_index(0, len(labels)))

    def counted(self, included: Bools, kept: Bools, weight: float) -> RecodedColumn:
        """The column as metrics see it."""
        codes, kinds = self.line.column.codes[included], self.kinds[included]
        width = max(len(self.line.column.values), len(self.labels))
        grouper = Grouper([[np.arange(width, dtype=np.uint32)]] * 2)
        pairs = grouper.pack(np.stack([codes, kinds], axis=1))
        levels, ones = np.zeros(2, dtype=np.uint32), np.ones(len(codes), dtype=np.int64)
        pair_of, first, counts = grouper.group(pairs, ones, levels, True)
        return RecodedColumn(
            values=codes[first],
            cells=kinds[first],
            counts=counts,
            kept=np.bincount(pair_of, weights=kept[included], minlength=len(first)).astype(np.int64),
            shares=self.shares,
            heights=self.heights,
            top=self.line.column.hierarchy.top,
            weight=weight,
            name=self.line.column.name,
        )


@dataclass(frozen=True, eq=False)
class Recoding:
    """A recoded table: the cells of each quasi-identifier, and which rows are kept. The others are suppressed.

    `optimal`: no recoding of the kind that the algorithm considers costs less; otherwise none costs less than
    `lower_bound` (minus infinity for a heuristic). `checked` is the number of things that were considered, and `what`
    names them (in the plural). `facts` are further results of the algorithm. `remedy` is advice for the case that the
    models do not hold.
    """

    columns: tuple[Cells, ...]
    kept: Bools = field(repr=False)
    checked: int
    what: str
    optimal: bool = False
    heuristic: bool = True
    lower_bound: float = float("-inf")
    facts: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    remedy: str = ""

    @cached_property
    def all_starred(self) -> Bools:
        """Tell for each row whether it shows only `*`, as suppressed rows do."""
        starred: Bools = np.logical_and.reduce([column.starred for column in self.columns])
        return starred | ~self.kept

    def settled(self, limit: int) -> Recoding:
        """Suppress the rows that show only `*` if the limit allows as many; otherwise keep them as one class.

        If all rows show only `*` and some are kept, they remain one class, as at the top node of a lattice.
        """
        starred = self.all_starred
        if starred.all() and self.kept.any():
            return self
        if int(starred.sum()) <= limit:
            return replace(self, kept=~starred)
        columns = tuple(column.with_stars(~self.kept) for column in self.columns)
        return replace(self, columns=columns, kept=np.ones(len(starred), dtype=bool))
