"""A table made ready for a search of its lattice: engine, models and metric together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kohorte.engines import EncodedTable, LocalEngine
from kohorte.hierarchy import SUPPRESSED
from kohorte.lattice import Lattice, Node
from kohorte.models import PrivacyModel
from kohorte.quality import Metric
from kohorte.search.base import Options, Problem, ProgressCallback
from kohorte.search.evaluator import Evaluator


@dataclass(frozen=True)
class Goal:
    """What is asked of a release, in rows of its table: models, metric, weights, and how many may be suppressed."""

    models: Sequence[PrivacyModel]
    metric: Metric
    weights: Mapping[str, float]
    limit: int
    options: Options = field(default_factory=Options)
    time_limit: float | None = None
    progress: ProgressCallback | None = None

    @property
    def smallest_class(self) -> int:
        """The fewest rows that a class can have and satisfy all models."""
        return max(model.smallest_class for model in self.models)


@dataclass(frozen=True, eq=False)
class FullDomain:
    """A table, its engine, and the problem that a search has to solve."""

    table: EncodedTable = field(repr=False)
    engine: LocalEngine = field(repr=False)
    evaluator: Evaluator = field(repr=False)
    problem: Problem = field(repr=False)


def full_domain(table: EncodedTable, goal: Goal) -> FullDomain:
    """Set up the search for the best node of a table's lattice."""
    marginals = table.marginals(goal.weights)
    lattice = Lattice(table.shape)
    costing = goal.metric.costing(marginals, smallest_class=goal.smallest_class, limit=goal.limit)
    engine = LocalEngine(table)
    some_excluded = not table.included.all() and all_starred(table, lattice.top)
    starred = engine.all_rows(lattice.top) if some_excluded else None
    evaluator = Evaluator(engine, goal.models, costing, goal.limit, starred)
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
    return FullDomain(table, engine, evaluator, problem)


def all_starred(table: EncodedTable, node: Node) -> bool:
    """Tell whether a node shows nothing but `*`."""
    return all(column.labels[level] == (SUPPRESSED,) for column, level in zip(table.columns, node, strict=True))
