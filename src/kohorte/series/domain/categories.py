"""Axes of categories, in the order in which a walk through their hierarchy meets them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.hierarchy import SUPPRESSED, Hierarchy
from kohorte.hierarchy.labels import quoted
from kohorte.series.domain.axis import FREE, OR_MISSING, Axis, Column
from kohorte.series.domain.measures import UNKNOWN

NOT_MISSING = "* (not missing)"
"""What a cell shows that covers all values, while missing ones are told apart."""


@dataclass(frozen=True)
class Categories(Axis):
    """The groups of one level of a hierarchy (`finest`; 0: the values themselves), neighbours side by side.

    A region covers a run of them: it is shown by the names of the groups that the run consists of, `{north, west}`.
    """

    hierarchy: Hierarchy = field(repr=False)
    finest: int = 0

    kind: ClassVar[str] = "categories"
    measured: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse names that could be read as several regions."""
        covered: dict[str, tuple[int, int]] = {}
        for level, (begins, ends) in enumerate(self._ends):
            for place in np.unique(begins).tolist():
                name = self.hierarchy.labels[level + self.finest][self._groups[level][place]]
                where = (place, int(ends[place]))
                if covered.setdefault(name, where) != where:
                    raise self._ambiguous("the same name stands for different things in its hierarchy")
        values = self.hierarchy.labels[self.finest]
        if any(value.startswith("{") for value in values) or any(name.endswith(OR_MISSING) for name in covered):
            raise self._ambiguous(f"a value begins with '{{', or a name ends with '{OR_MISSING}'")

    def _ambiguous(self, why: str) -> InputError:
        return InputError(f"regions: {self.name}: {why}, so that a label would be ambiguous", code="series-axis")

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """The values in the order of the axis: by the group of the highest level, then of the next, and so on."""
        keys = [self.hierarchy.groups[level] for level in range(self.finest, self.hierarchy.top + 1)]
        return np.lexsort(keys)

    @cached_property
    def _place_of_value(self) -> NDArray[np.int64]:
        groups = self.hierarchy.groups[self.finest][self._order].astype(np.int64)
        steps = np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])])
        places = np.empty(len(groups), dtype=np.int64)
        places[self._order] = steps
        return places

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], ...]:
        """The group of every place, level by level from the finest."""
        first = np.zeros(self.known, dtype=np.int64)
        first[self._place_of_value[::-1]] = np.arange(len(self._place_of_value))[::-1]
        return tuple(
            self.hierarchy.groups[level][first].astype(np.int64) for level in range(self.finest, self.hierarchy.top + 1)
        )

    @property
    def known(self) -> int:
        """How many groups there are."""
        return int(self._place_of_value.max(initial=-1)) + 1

    @cached_property
    def cut_levels(self) -> NDArray[np.int64]:
        """The highest level that tells a place from the one before; missing values are told apart at any time."""
        levels = np.zeros(self.length, dtype=np.int64)
        for level, groups in enumerate(self._groups):
            levels[1 : self.known][groups[1:] != groups[:-1]] = level
        levels[self.known :] = FREE
        return levels

    def place_values(self, values: pl.Series) -> Column:
        """The place of every value that the hierarchy knows."""
        codes = self.hierarchy.encode(values)
        return np.where(codes < 0, UNKNOWN, self._place_of_value[codes])

    def label(self, low: int, high: int) -> str | None:
        """What a cell shows; `*` where it covers everything, which includes missing values where there may be some."""
        if (low, high) == (0, self.length) and self.length > 1:
            return SUPPRESSED
        label = super().label(low, high)
        return NOT_MISSING if self.missing and label == SUPPRESSED else label

    def label_known(self, low: int, high: int) -> str:
        """The names of the largest groups that the run consists of, one after another."""
        names, place = [], low
        while place < high:
            level, end = self._largest(place, high)
            names.append(self.hierarchy.labels[level + self.finest][self._groups[level][place]])
            place = end
        return names[0] if len(names) == 1 else "{" + ", ".join(quoted(name, ",{}") for name in names) + "}"

    def _largest(self, place: int, high: int) -> tuple[int, int]:
        """The largest group that begins at a place and ends before `high`: its level (the lowest) and its end."""
        found = (0, place + 1)
        for level, (begins, ends) in enumerate(self._ends):
            if begins[place] == place and found[1] < ends[place] <= high:
                found = (level, int(ends[place]))
        return found

    @cached_property
    def _ends(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
        """Where the group of every place begins and ends, level by level."""
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
        """Only a name: the hierarchy stands in the plan."""
        return {"categories": self.finest}
