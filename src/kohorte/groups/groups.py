"""The equivalence classes of a table at a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from kohorte.groups.histogram import Histogram
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats
from kohorte.lattice import Node

LARGEST_SUMMARIZED = 128
"""Summaries by class size end with this size: our own choice."""


@dataclass(frozen=True, eq=False)
class Population:
    """The number of people of a population in each class, and the number of its classes without a row of the table."""

    counts: Counts
    empty_classes: int


@dataclass(frozen=True, eq=False)
class Groups:
    """The classes of rows that look the same at a node.

    `sizes` counts the rows of each class. `codes(which)` returns the codes of the selected classes at the levels of the
    node, one column per quasi-identifier. `excluded` rows are in no class: the policy for missing values suppresses
    them at every node. `histograms` and `populations` contain the sensitive attributes and the populations that the
    models need, by name.

    `people` are the same classes counted in people instead of rows, if the plan says whom a row is about: then the
    models judge them instead. `sets(kept)` returns what the models judge if people are judged by all their rows; it
    depends on which classes are kept. Then a class of the table can be kept in part, and `as_shown(kept)` returns the
    kept and the suppressed part of each class, for metrics. Metrics and the suppression limit always count rows.

    For models that look at several classes together, `kept` tells which classes are released; None means all.
    `joined(attribute)` numbers the classes that remain if the quasi-identifier with that index becomes `*`.

    Where groups are remembered for further searches, `by_class` keeps numbers per class that a metric needs each time,
    and `by_size` a short summary: numbers for all classes of fewer than 0, 1, 2, ... rows together.
    """

    node: Node
    sizes: Counts
    codes: Callable[[Bools], Codes]
    excluded: int = 0
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    populations: Mapping[str, Population] = field(default_factory=dict)
    joined: Callable[[int], Codes] | None = None
    attributes: int = 0
    kept: Bools | None = None
    people: Groups | None = None
    sets: Callable[[Bools], Sequence[JudgedPeople]] | None = None
    as_shown: Callable[[Bools], tuple[Groups, Bools]] | None = None
    by_class: dict[object, Floats] | None = field(default=None, repr=False)
    by_size: dict[object, Floats] | None = field(default=None, repr=False)

    @property
    def judged(self) -> Groups:
        """The classes as models count them: in people if whom a row is about is known, otherwise in rows."""
        if self.sets is not None:
            return self.sets(np.ones(len(self), dtype=bool))[0].groups
        return self if self.people is None else self.people

    @property
    def counts_people(self) -> bool:
        """Whether the models judge people instead of rows."""
        return self.people is not None or self.sets is not None

    def below_each_size(self, numbers: Counts | Floats) -> Floats:
        """Add up numbers of classes, for all classes of fewer than 0, 1, 2, ... rows, up to `LARGEST_SUMMARIZED`."""
        small = self.sizes < LARGEST_SUMMARIZED
        sums = np.bincount(self.sizes[small], weights=numbers[small], minlength=LARGEST_SUMMARIZED)
        return np.concatenate(([0.0], sums.cumsum()))

    @classmethod
    def none(cls) -> Self:
        """No class at all: what is left if every row is suppressed."""
        return cls((), np.empty(0, dtype=np.int64), lambda _: np.empty((0, 0), dtype=np.uint32))

    @cached_property
    def rows(self) -> int:
        """The number of all rows, in classes or excluded."""
        return int(self.sizes.sum()) + self.excluded

    @property
    def kept_sizes(self) -> Counts:
        """The sizes of the kept classes."""
        return self.sizes if self.kept is None else self.sizes[self.kept]

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class JudgedPeople:
    """Groups of people that the models judge; class `c` of the table belongs to group `of[c]`, if it is kept."""

    groups: Groups
    of: Codes
