"""The equivalence classes of a table at a node: all that models and metrics ever see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kohorte.groups.histogram import Histogram
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node


@dataclass(frozen=True, eq=False)
class Population:
    """How many people of a population each class stands for, and how many classes of it have no row in the table."""

    counts: Counts
    empty_classes: int


@dataclass(frozen=True, eq=False)
class Groups:
    """The classes of rows that look the same at a node.

    `sizes` counts the rows of each class. `codes(which)` returns the level-0 codes of one row of each of the
    selected classes, from which metrics read its generalized values. `excluded` rows take part in no class: the
    policy for missing values suppresses them at every node. `histograms` has the sensitive attributes and
    `populations` the populations that the models ask for, by name.

    `kept` tells, for models that look at classes together, which of them are to stay; None means all.
    `joined(attribute)` numbers the classes that would be one if the quasi-identifier of that number were `*`.
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

    @cached_property
    def rows(self) -> int:
        """All rows, in classes or excluded."""
        return int(self.sizes.sum()) + self.excluded

    @property
    def kept_sizes(self) -> Counts:
        """The sizes of the classes that are to stay."""
        return self.sizes if self.kept is None else self.sizes[self.kept]

    def __len__(self) -> int:
        return len(self.sizes)
