"""How often each value of a sensitive attribute occurs in each class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.kernels import Tree, entropies, equal_distance, ordered_distance, top_counts
from kohorte.kernels.arrays import Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a sensitive attribute, as codes; missing is a separate value.

    `overall[code]` counts the value in the whole table, suppressed rows included. If the attribute is `ordered`, the
    codes follow its order. `maps[level][code]` are the groups of its hierarchy; empty without a hierarchy.

    If people are counted, `overall[code]` is the number of people with the value, and `people` the number of all: a
    person with several values counts once for each.
    """

    overall: Counts
    ordered: bool = False
    maps: tuple[Codes, ...] = ()
    people: int | None = None

    @cached_property
    def size(self) -> int:
        """The number of rows of the table, or of people."""
        return int(self.overall.sum()) if self.people is None else self.people

    @cached_property
    def shares(self) -> Floats:
        """The share of all rows, or of all people, that has each value."""
        shares: Floats = self.overall / max(1, self.size)
        return shares

    @property
    def distinct(self) -> int:
        """The number of different values that occur."""
        return int(np.count_nonzero(self.overall))

    @cached_property
    def tree(self) -> Tree:
        """The hierarchy, prepared for computing distances."""
        return Tree([np.ascontiguousarray(level) for level in self.maps], self.overall)

    @cached_property
    def flat_tree(self) -> Tree:
        """A hierarchy in which all values are equally far from each other."""
        values = np.arange(len(self.overall), dtype=np.uint32)
        return Tree([values, np.zeros_like(values)], self.overall)

    @cached_property
    def furthest_in_order(self) -> Floats:
        """For each value, the ordered distance between a class of one row with that value and the whole table."""
        found = np.zeros(len(self.overall))
        found[self.points.values] = self.points.ordered_distance
        return found

    @cached_property
    def points(self) -> Histogram:
        """One class of a single row for each value that occurs."""
        values = np.flatnonzero(self.overall).astype(np.uint32)
        return Histogram(np.arange(len(values) + 1), values, np.ones(len(values), dtype=np.int64), self)


@dataclass(frozen=True, eq=False)
class Histogram:
    """Sparse counts, class by class: entries `starts[c]` to `starts[c + 1]` belong to class `c`.

    `counts[i]` rows of the class have value `values[i]`. A value occurs at most once in a class, and each class has at
    least one value.

    If people are counted, `counts[i]` people have the value, and class `c` has `people[c]` people: a person with
    several values in a class counts once for each.
    """

    starts: Counts
    values: Codes
    counts: Counts
    domain: Domain
    people: Counts | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def totals(self) -> Counts:
        """The sum of the counts of each class."""
        sizes: Counts = np.add.reduceat(self.counts, self.starts[:-1]) if len(self) else self.counts
        return sizes

    @property
    def sizes(self) -> Counts:
        """The number of rows of each class, or of its people."""
        return self.totals if self.people is None else self.people

    @property
    def distinct(self) -> Counts:
        """The number of different values in each class."""
        return np.diff(self.starts)

    @cached_property
    def shares(self) -> Floats:
        """The share of the rows of its class, or of the people, that has the value of each entry."""
        shares: Floats = self.counts / np.repeat(self.sizes, self.distinct)
        return shares

    def sums(self, cells: Floats) -> Floats:
        """The sum of one number per entry, for each class."""
        sums: Floats = np.add.reduceat(cells, self.starts[:-1]) if len(self) else np.zeros(0)
        return sums

    def largest(self, cells: Floats) -> Floats:
        """The maximum of one number per entry, for each class."""
        largest: Floats = np.maximum.reduceat(cells, self.starts[:-1]) if len(self) else np.zeros(0)
        return largest

    @cached_property
    def without_commonest(self) -> Counts:
        """The number of rows of each class, or of its people, that do not have its most frequent value."""
        largest, _ = self.tops(1)
        others: Counts = self.sizes - largest
        return others

    @cached_property
    def entropies(self) -> Floats:
        """The entropy of each class, in nats."""
        return entropies(self.starts, self.counts)

    @cached_property
    def _tops(self) -> dict[int, tuple[Counts, Counts]]:
        return {}

    def tops(self, number: int) -> tuple[Counts, Counts]:
        """The largest count of each class, and the sum of its `number` largest counts."""
        if number not in self._tops:
            self._tops[number] = top_counts(self.starts, self.counts, number)
        return self._tops[number]

    @cached_property
    def equal_distance(self) -> Floats:
        """The distance of each class to the whole table if all values are equally far from each other."""
        return equal_distance(self.starts, self.values, self.counts, self.domain.overall)

    @cached_property
    def ordered_distance(self) -> Floats:
        """The distance of each class to the whole table if the distance of two values is that of their ranks."""
        return ordered_distance(self.starts, self.values, self.counts, self.domain.overall)

    @cached_property
    def hierarchical_distance(self) -> Floats:
        """The distance of each class to the whole table if the hierarchy gives the distance of two values."""
        return self.domain.tree.distances(self.starts, self.values, self.counts)

    def removals(self, tree: Tree, distances: Floats, most: float) -> Floats:
        """A lower bound for the rows to remove from each class so that its distance in a tree is at most `most`."""
        return tree.removals(self.starts, self.values, self.counts, distances, most)
