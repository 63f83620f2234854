"""Query loss: what the cells lose that a list of count queries asks about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Marginals, Recoded
from kohorte.kernels.arrays import Floats
from kohorte.metrics.base import Costing
from kohorte.metrics.loss import LossCosting


@dataclass(frozen=True)
class QueryLoss:
    """Loss in the attributes that count queries ask about: the mean over the queries of the loss of their attributes.

    A count query is off by the rows whose cells its condition divides. If a condition begins and ends anywhere, the
    chance that it divides a cell grows with the share of the domain that the cell covers, which is its loss. The
    (weighted) mean over the attributes of a query is taken; an attribute that no query asks about costs nothing.

    Monotone
        Without suppression only.
    Source
        Our own. That the error of range queries grows with the widths of cells: LeFevre, DeWitt, Ramakrishnan,
        Workload-Aware Anonymization, KDD 2006.
    """

    queries: tuple[tuple[str, ...], ...]

    name: ClassVar[str] = "query_loss"
    attributes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not _are_queries(self.queries):
            raise InputError(
                "queries are the attributes that count queries ask about together, as in [[age, sex], [zip]], each "
                "with at least one and none twice",
                code="plan-metric-queries",
            )
        object.__setattr__(self, "queries", tuple(tuple(query) for query in self.queries))

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that the queries ask about."""
        return tuple(dict.fromkeys(name for query in self.queries for name in query))

    def weights(self, own: Mapping[str, float]) -> Floats:
        """How much the loss of each attribute counts; `own` are the weights of the plan. They add up to 1."""
        total, wholes = dict.fromkeys(own, 0.0), [sum(own[name] for name in query) for query in self.queries]
        counted = sum(whole > 0 for whole in wholes)
        if not counted:
            raise InputError(
                "all attributes that the queries ask about have weight 0: the metric has nothing to weigh",
                code="weights-zero",
            )
        for query, whole in zip(self.queries, wholes, strict=True):
            for name in query if whole > 0 else ():
                total[name] += own[name] / whole / counted
        return np.array(list(total.values()))

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The mean over the queries; cells of suppressed rows count 1."""
        del smallest_class
        means = [table.mean_with_suppression(column, column.shares) for column in table.columns]
        return float((self.weights({column.name: column.weight for column in table.columns}) * means).sum())

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        weights = self.weights({column.name: column.weight for column in marginals.columns})
        return LossCosting(marginals, smallest_class=smallest_class, limit=limit, weights=weights)


def _are_queries(given: object) -> bool:
    """Whether something is a list of lists of different names."""
    if not isinstance(given, list | tuple) or not given or not all(isinstance(one, list | tuple) for one in given):
        return False
    named = all(isinstance(name, str) for one in given for name in one)
    return named and all(one and len(set(one)) == len(one) for one in given)
