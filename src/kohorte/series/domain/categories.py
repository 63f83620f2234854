"""Axes of categories, ordered so that each group of the hierarchy is one run of positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED, Hierarchy
from kohorte.hierarchies.labels import quoted
from kohorte.kernels.arrays import Integers
from kohorte.series.domain.axis import FREE, OR_MISSING, Axis, Column
from kohorte.series.domain.measures import UNKNOWN

NOT_MISSING = "* (not missing)"
"""The text of a cell that covers all values except missing ones."""


@dataclass(frozen=True)
class CategoryAxis(Axis):
    """The groups of the level `finest` of a hierarchy (0: the values themselves).

    A region covers a run of them. Its cells list the names of the groups that the run consists of: `{north, west}`.
    """

    hierarchy: Hierarchy = field(repr=False)
    finest: int = 0

    kind: ClassVar[str] = "categories"
    measured: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse names that would make a label ambiguous."""
        covered: dict[str, tuple[int, int]] = {}
        for level, (begins, ends) in enumerate(self._ends):
            for position in np.unique(begins).tolist():
                name = self.hierarchy.labels[level + self.finest][self._groups[level][position]]
                where = (position, int(ends[position]))
                if covered.setdefault(name, where) != where:
                    raise self._ambiguous("its hierarchy uses the same name for different groups")
        values = self.hierarchy.labels[self.finest]
        if any(value.startswith("{") for value in values) or any(name.endswith(OR_MISSING) for name in covered):
            raise self._ambiguous(f"a value begins with '{{', or a name ends with '{OR_MISSING}'")

    def _ambiguous(self, why: str) -> InputError:
        return InputError(f"regions: {self.name}: {why}, so that a label would be ambiguous", code="series-axis")

    @cached_property
    def _order(self) -> Integers:
        """The values in the order of the axis: by the group of the highest level, then of the next, and so on."""
        keys = [self.hierarchy.groups[level] for level in range(self.finest, self.hierarchy.top + 1)]
        return np.lexsort(keys)

    @cached_property
    def _position_of_value(self) -> Integers:
        groups = self.hierarchy.groups[self.finest][self._order].astype(np.int64)
        steps = np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])])
        positions = np.empty(len(groups), dtype=np.int64)
        positions[self._order] = steps
        return positions

    @cached_property
    def _groups(self) -> tuple[Integers, ...]:
        """The group of every position, level by level from the finest."""
        first = np.zeros(self.known, dtype=np.int64)
        first[self._position_of_value[::-1]] = np.arange(len(self._position_of_value))[::-1]
        return tuple(
            self.hierarchy.groups[level][first].astype(np.int64) for level in range(self.finest, self.hierarchy.top + 1)
        )

    @property
    def known(self) -> int:
        """How many groups there are."""
        return int(self._position_of_value.max(initial=-1)) + 1

    @cached_property
    def cut_levels(self) -> Integers:
        """The highest level that tells a position from the one before; FREE for missing values."""
        levels = np.zeros(self.length, dtype=np.int64)
        for level, groups in enumerate(self._groups):
            levels[1 : self.known][groups[1:] != groups[:-1]] = level
        levels[self.known :] = FREE
        return levels

    def positions_of_values(self, values: pl.Series) -> Column:
        """The position of every value that the hierarchy knows."""
        codes = self.hierarchy.encode(values)
        return np.where(codes < 0, UNKNOWN, self._position_of_value[codes])

    def label(self, low: int, high: int) -> str | None:
        """The text of a cell; `*` if it covers the whole axis, including missing values."""
        if (low, high) == (0, self.length) and self.length > 1:
            return SUPPRESSED
        label = super().label(low, high)
        return NOT_MISSING if self.missing and label == SUPPRESSED else label

    def label_known(self, low: int, high: int) -> str:
        """The names of the largest groups that the run consists of, one after another."""
        names, position = [], low
        while position < high:
            level, end = self._largest(position, high)
            names.append(self.hierarchy.labels[level + self.finest][self._groups[level][position]])
            position = end
        return names[0] if len(names) == 1 else "{" + ", ".join(quoted(name, ",{}") for name in names) + "}"

    def _largest(self, position: int, high: int) -> tuple[int, int]:
        """The largest group that begins at a position and ends before `high`: its level (the lowest) and its end."""
        found = (0, position + 1)
        for level, (begins, ends) in enumerate(self._ends):
            if begins[position] == position and found[1] < ends[position] <= high:
                found = (level, int(ends[position]))
        return found

    @cached_property
    def _ends(self) -> tuple[tuple[Integers, Integers], ...]:
        """Where the group of every position begins and ends, level by level."""
        found = []
        for groups in self._groups:
            edges = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]]))
            which = np.searchsorted(edges, np.arange(self.known), side="right") - 1
            found.append((edges[which], edges[which + 1]))
        return tuple(found)

    def ticks(self, low: int, high: int) -> tuple[str, str]:
        """The names of the first and the last category."""
        last = min(high, self.known) - 1
        return self.label_known(min(low, last), min(low, last) + 1), self.label_known(last, last + 1)

    @property
    def in_words(self) -> str:
        """How many categories there are."""
        return f"the {self.known:,} categories of its hierarchy"

    def to_dict(self) -> dict[str, object]:
        """The finest level; the hierarchy itself is in the plan."""
        return {"categories": self.finest}
