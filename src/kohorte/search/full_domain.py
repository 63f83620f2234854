"""The search problem of a table: lattice, engine, models and metric together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kohorte.engines import Engine
from kohorte.groups import Marginals
from kohorte.hierarchies import SUPPRESSED
from kohorte.lattice import Lattice, Node
from kohorte.metrics import Metric
from kohorte.models import PrivacyModel
from kohorte.progress import ProgressCallback
from kohorte.search.base import Options, Problem
from kohorte.search.evaluator import Evaluator
from kohorte.sources import EncodedTable


@dataclass(frozen=True)
class Goal:
    """The requirements of a plan for one table; `limit` is the number of rows that may be suppressed."""

    models: Sequence[PrivacyModel]
    metric: Metric
    weights: Mapping[str, float]
    limit: int
    options: Options = field(default_factory=Options)
    time_limit: float | None = None
    progress: ProgressCallback | None = None

    @property
    def smallest_class(self) -> int:
        """The fewest rows, or people, that a class needs to satisfy all models."""
        return max(model.smallest_class for model in self.models)


def full_domain(
    table: EncodedTable, goal: Goal, engine: Engine, *, k_or_none: bool = False
) -> tuple[Evaluator, Problem]:
    """Set up the search for the best node of a table's lattice; the engine counts the nodes.

    `k_or_none`: as many rows are suppressed as a class needs, or none.
    """
    starred = all_starred(table, tuple(levels - 1 for levels in table.shape))
    return lattice_problem(
        table.marginals(goal.weights),
        goal,
        engine,
        starred=starred,
        excluded=table.excluded,
        by_people=table.persons is not None,
        k_or_none=k_or_none,
    )


def lattice_problem(
    marginals: Marginals,
    goal: Goal,
    engine: Engine,
    *,
    starred: bool,
    excluded: int,
    by_people: bool = False,
    k_or_none: bool = False,
) -> tuple[Evaluator, Problem]:
    """Set up the search if only the frequencies of single columns are known, and an engine that counts nodes.

    `starred`: the top node shows nothing but `*`; `excluded` rows are in no class.
    """
    lattice = Lattice(marginals.shape)
    costing = goal.metric.costing(marginals, smallest_class=goal.smallest_class, limit=goal.limit)
    evaluator = Evaluator(
        engine,
        goal.models,
        costing,
        goal.limit,
        starred=engine.all_rows(lattice.top) if excluded and starred else None,
        starred_node=lattice.top if starred else None,
        by_people=by_people,
        least_suppressed=goal.smallest_class if k_or_none else 0,
    )
    problem = Problem(
        lattice=lattice,
        count=evaluator,
        begin=evaluator.begin,
        costing=costing,
        marginals=marginals,
        limit=goal.limit,
        monotone=evaluator.monotone,
        options=goal.options,
        time_limit=goal.time_limit,
        progress=goal.progress,
    )
    return evaluator, problem


def all_starred(table: EncodedTable, node: Node) -> bool:
    """Tell whether a node shows nothing but `*`."""
    return all(column.labels[level] == (SUPPRESSED,) for column, level in zip(table.columns, node, strict=True))
