"""The interface of metrics, used by the searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from kohorte.groups import Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.lattice import add_up


class Costing:
    """A metric prepared for one table: the cost of a node, and lower bounds for nodes that have not been counted.

    `parts[attribute][level]` add up to a lower bound for every node; if `exact`, to the cost itself.
    Sums are written as `(a * b).sum()`, because BLAS products start threads and may add in another order.
    `monotone`: among nodes that satisfy the models, a generalization never costs less. `rises_with_height`: the same
    holds for every node with a larger sum of levels. `finer_suppression_costs_more`: rows that are suppressed at a node
    and at a specialization of it add at least as much to the parts at the specialization as at the node.
    """

    exact: bool = False
    monotone: bool = False
    raises_floor: bool = False
    rises_with_height: bool = False
    finer_suppression_costs_more: bool = False

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        self.marginals = marginals
        self.rows = marginals.rows
        self.smallest_class = smallest_class
        self.limit = limit
        self.parts: tuple[Floats, ...] = self.make_parts()

    def make_parts(self) -> tuple[Floats, ...]:
        """Return the numbers per attribute and level that add up to a lower bound for every node."""
        return tuple(np.zeros(levels) for levels in self.marginals.shape)

    def static(self, groups: Groups) -> float:
        """The sum of the parts at a node."""
        return add_up(self.parts, groups.node)

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        """The cost of a node; lower is better. `kept` says which classes are kept."""
        del kept, suppressed
        return self.static(groups)

    def floor(self, groups: Groups) -> float:
        """A lower bound for the cost of this node and of all its generalizations."""
        del groups
        return -np.inf

    def at_least(self, static: Floats, suppressed: float | Floats) -> Floats:
        """Raise static bounds, given that at least `suppressed` rows are suppressed."""
        del suppressed
        return static

    def added_by_small(self, by_size: Mapping[object, Floats]) -> float:
        """At least so much do rows in classes that are too small add to the parts of a node, from its summary."""
        del by_size
        return 0.0

    def most_suppressed(self, cost: float) -> float:
        """The largest number of suppressed rows of a node that costs no more than `cost`."""
        del cost
        return self.rows


class Metric(Protocol):
    """A published measure of information loss; its parameters are its fields."""

    name: ClassVar[str]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes whose histograms the metric needs."""

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The cost of a table whose rows are generalized individually; for a node, the same as its costing."""

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table, the class size that the models require and the suppression limit."""


def in_any_order(numbers: NDArray[Any]) -> float:
    """The sum of numbers, to the last bit the same in whatever order they come.

    Otherwise the order of rows, which differs between pooled tables and those of several institutions, could decide
    between nodes of equal cost.
    """
    return float(np.sort(numbers).sum())


def constant_parts(marginals: Marginals, value: float) -> tuple[Floats, ...]:
    """Parts that add up to the same lower bound for all nodes."""
    first, *others = (np.zeros(levels) for levels in marginals.shape)
    return (first + value, *others)
