"""From a table to a problem for the searches, as a release makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kohorte.engines import Engine, engine_for
from kohorte.lattice import Lattice
from kohorte.metrics import Metric, metric_named
from kohorte.models import PrivacyModel
from kohorte.search import Evaluator, Problem, ProgressCallback
from kohorte.sources import EncodedTable


def evaluator_of(
    table: EncodedTable,
    metric: str | Metric,
    models: Sequence[PrivacyModel],
    *,
    limit: int,
    weights: Mapping[str, float] | None = None,
    engine: Engine | None = None,
) -> Evaluator:
    """Make the evaluator of a table; `limit` is the most rows that may be suppressed."""
    metric = metric_named(metric) if isinstance(metric, str) else metric
    smallest = max(model.smallest_class for model in models)
    costing = metric.costing(table.marginals(weights or {}), smallest_class=smallest, limit=limit)
    return Evaluator(engine or engine_for(table), models, costing, limit)


def problem_of(
    table: EncodedTable,
    metric: str | Metric,
    models: Sequence[PrivacyModel],
    *,
    limit: int,
    weights: Mapping[str, float] | None = None,
    engine: Engine | None = None,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
) -> Problem:
    """Make the problem of a table."""
    evaluator = evaluator_of(table, metric, models, limit=limit, weights=weights, engine=engine)
    return Problem(
        lattice=Lattice(table.shape),
        count=evaluator,
        costing=evaluator.costing,
        marginals=evaluator.costing.marginals,
        limit=limit,
        monotone=evaluator.monotone,
        time_limit=time_limit,
        progress=progress,
    )
