"""The equivalence classes of a table at a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kohorte.groups.histogram import Histogram
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node


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

    For models that look at several classes together, `kept` tells which classes are released; None means all.
    `joined(attribute)` numbers the classes that remain if the quasi-identifier with that index becomes `*`.
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
        """The number of all rows, in classes or excluded."""
        return int(self.sizes.sum()) + self.excluded

    @property
    def kept_sizes(self) -> Counts:
        """The sizes of the kept classes."""
        return self.sizes if self.kept is None else self.sizes[self.kept]

    def __len__(self) -> int:
        return len(self.sizes)
