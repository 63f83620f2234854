"""How often each value of a sensitive attribute occurs in each class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.kernels import Tree, entropies, equal_distance, ordered_distance, top_counts
from kohorte.kernels.arrays import Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a sensitive attribute, as codes; a missing value is a value of its own.

    `overall[code]` counts the value in the whole table, suppressed rows included. Where the attribute is `ordered`,
    the codes follow its order. `maps[level][code]` are the levels of its hierarchy; none where it has no hierarchy.
    """

    overall: Counts
    ordered: bool = False
    maps: tuple[Codes, ...] = ()

    @cached_property
    def rows(self) -> int:
        """All rows of the table."""
        return int(self.overall.sum())

    @cached_property
    def shares(self) -> Floats:
        """The share of all rows that each value has."""
        shares: Floats = self.overall / max(1, self.rows)
        return shares

    @property
    def distinct(self) -> int:
        """How many different values occur."""
        return int(np.count_nonzero(self.overall))

    @cached_property
    def tree(self) -> Tree:
        """The hierarchy, made ready for measuring distances."""
        return Tree([np.ascontiguousarray(level) for level in self.maps], self.overall)

    @cached_property
    def flat_tree(self) -> Tree:
        """A hierarchy in which all values are equally far from each other."""
        values = np.arange(len(self.overall), dtype=np.uint32)
        return Tree([values, np.zeros_like(values)], self.overall)

    @cached_property
    def furthest_in_order(self) -> Floats:
        """How far a class of one row is from the whole table, in order, for each value that it may have."""
        found = np.zeros(len(self.overall))
        found[self.points.values] = self.points.ordered_distance
        return found

    @cached_property
    def points(self) -> Histogram:
        """One class for each value that occurs, of one row."""
        values = np.flatnonzero(self.overall).astype(np.uint32)
        return Histogram(np.arange(len(values) + 1), values, np.ones(len(values), dtype=np.int64), self)


@dataclass(frozen=True, eq=False)
class Histogram:
    """Sparse counts, class by class: cells `starts[c]` to `starts[c + 1]` are the values of class `c`.

    `counts[i]` rows of the class have value `values[i]`; each value stands at most once in a class, and each class has
    at least one.
    """

    starts: Counts
    values: Codes
    counts: Counts
    domain: Domain

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def sizes(self) -> Counts:
        """The rows of each class."""
        sizes: Counts = np.add.reduceat(self.counts, self.starts[:-1]) if len(self) else self.counts
        return sizes

    @property
    def distinct(self) -> Counts:
        """How many different values each class has."""
        return np.diff(self.starts)

    @cached_property
    def shares(self) -> Floats:
        """The share that each cell has of its class."""
        shares: Floats = self.counts / np.repeat(self.sizes, self.distinct)
        return shares

    def sums(self, cells: Floats) -> Floats:
        """Add up a number per cell, class by class."""
        sums: Floats = np.add.reduceat(cells, self.starts[:-1]) if len(self) else np.zeros(0)
        return sums

    def largest(self, cells: Floats) -> Floats:
        """The largest of a number per cell, class by class."""
        largest: Floats = np.maximum.reduceat(cells, self.starts[:-1]) if len(self) else np.zeros(0)
        return largest

    @cached_property
    def entropies(self) -> Floats:
        """The entropy of each class, in nats."""
        return entropies(self.starts, self.counts)

    @cached_property
    def _tops(self) -> dict[int, tuple[Counts, Counts]]:
        return {}

    def tops(self, places: int) -> tuple[Counts, Counts]:
        """The largest count of each class, and the sum of its so many largest counts."""
        if places not in self._tops:
            self._tops[places] = top_counts(self.starts, self.counts, places)
        return self._tops[places]

    @cached_property
    def equal_distance(self) -> Floats:
        """The distance of each class to the whole table where all values are equally far from each other."""
        return equal_distance(self.starts, self.values, self.counts, self.domain.overall)

    @cached_property
    def ordered_distance(self) -> Floats:
        """The distance of each class to the whole table where values are as far apart as their places."""
        return ordered_distance(self.starts, self.values, self.counts, self.domain.overall)

    @cached_property
    def hierarchical_distance(self) -> Floats:
        """The distance of each class to the whole table where values are as far apart as their hierarchy says."""
        return self.domain.tree.distances(self.starts, self.values, self.counts)

    def removals(self, tree: Tree, distances: Floats, most: float) -> Floats:
        """A lower bound for the rows that have to leave each class before its distance in a tree is at most `most`."""
        return tree.removals(self.starts, self.values, self.counts, distances, most)
