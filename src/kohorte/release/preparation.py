"""A table and a plan, checked against each other and encoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from kohorte.engines import EncodedTable, encode
from kohorte.errors import InputError
from kohorte.groups import Domain
from kohorte.release.columns import check_columns
from kohorte.release.hierarchies import hierarchies
from kohorte.release.plan import Plan
from kohorte.release.plan_parts import Within
from kohorte.release.population import Populations, divide
from kohorte.release.safe_harbor import refuse_unsafe
from kohorte.search import Goal, ProgressCallback


@dataclass(frozen=True, eq=False)
class Prepared:
    """A plan and the rows to release, encoded; `goal` is what the plan asks for in rows of this table."""

    plan: Plan
    frame: pl.DataFrame = field(repr=False)
    table: EncodedTable = field(repr=False)
    goal: Goal = field(repr=False)
    populations: Populations = field(repr=False)
    population_hashes: Mapping[str, str]


def encode_for(frame: pl.DataFrame, plan: Plan, *, progress: ProgressCallback | None = None) -> Prepared:
    """Check a table against a plan and encode what the plan names."""
    check_columns(frame.columns, plan)
    if frame.height == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    parts = divide(frame, plan)
    frame = parts.frame
    for number, model in enumerate(plan.models, start=1):
        if model.smallest_class > frame.height:
            raise InputError(
                f"models: entry {number}: model {model.name} asks for classes of {model.smallest_class:,} rows, but "
                f"the table has only {frame.height:,}",
                code="model-beyond-rows",
            )
    table = encode(
        frame,
        hierarchies(plan),
        missing=plan.missing,
        sensitive={name: plan.attributes[name].hierarchy for name in plan.counted_attributes},
        populations=parts.people,
        finest=plan.minimum_levels,
    )
    check_models(plan, table.domains)
    refuse_unsafe(frame, plan, table.columns)
    goal = Goal(
        models=plan.models,
        metric=plan.metric,
        weights={name: float(attribute.weight) for name, attribute in plan.attributes.items()},
        limit=plan.most_suppressed(frame.height),
        options=plan.search.options,
        time_limit=plan.search.time_limit,
        progress=progress,
    )
    return Prepared(plan, frame, table, goal, parts.populations, parts.hashes)


def check_models(plan: Plan, domains: Mapping[str, Domain]) -> None:
    """Refuse a table that a model of the plan cannot judge, or that it can never hold for."""
    for number, model in enumerate(plan.models, start=1):
        with Within(f"models: entry {number}"):
            model.check(domains)
