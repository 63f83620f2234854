"""Checks a table against a plan and encodes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from kohorte.errors import InputError
from kohorte.groups import Domain
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import PEOPLE, ROWS
from kohorte.kernels.arrays import Bools
from kohorte.plans.columns import check_columns
from kohorte.plans.hierarchies import hierarchies
from kohorte.plans.parts import Within
from kohorte.plans.people.project_pseudonyms import Pseudonymize, with_pseudonyms
from kohorte.plans.plan import Plan
from kohorte.plans.population import Populations, divide
from kohorte.progress import Stage, tell
from kohorte.release.algorithms import is_recoder
from kohorte.release.decorrelation import decorrelate
from kohorte.release.safe_harbor import refuse_unsafe
from kohorte.search import Goal, ProgressCallback
from kohorte.sources import EncodedTable, FrameSource, PersonColumns, TableSource, Tuples, encode


@dataclass(frozen=True, eq=False)
class EncodedProblem:
    """A plan and the encoded rows to release; `goal` contains the requirements of the plan, in rows of this table."""

    plan: Plan
    source: TableSource = field(repr=False)
    tuples: Tuples = field(repr=False)
    table: EncodedTable = field(repr=False)
    goal: Goal = field(repr=False)
    populations: Populations = field(repr=False)
    population_hashes: Mapping[str, str]
    input_rows: int

    def released(self, shown: pl.DataFrame, *, shuffled: bool | None = None) -> TableSource:
        """The released table, without identifying columns and the flag; by default in the order that the plan asks for.

        Row `t` of `shown` replaces the quasi-identifiers of tuple `t`.
        """
        plan = self.plan
        without = [*plan.removed_columns, *(() if plan.subset is None else (plan.subset.name,))]
        in_random_order = plan.order != "input" if shuffled is None else shuffled
        whom = [name for name in plan.unit.columns if plan.decorrelate is not None and name in without]
        removed = [name for name in without if name not in whom]
        table = self.source.released(self.tuples, shown, without=removed, shuffled=in_random_order)
        if plan.decorrelate is None:
            return table
        return FrameSource(decorrelate(table.in_memory("decorrelate"), plan).drop(whom))

    def untied(self, shown: pl.DataFrame, kept: Bools) -> pl.DataFrame:
        """Hide what ties rows of one person together in the tuples that are not kept.

        Otherwise the number of suppressed rows of each pseudonym would be seen, and could tell who it is.
        """
        if kept.all() or not self.plan.unit.links:
            return shown
        stars = pl.Series([SUPPRESSED]).new_from_index(0, len(kept))
        ties = (self.tuples.text(name).zip_with(pl.Series(kept), stars).alias(name) for name in self.plan.unit.links)
        return shown.with_columns(ties)


def encode_problem(
    source: TableSource,
    plan: Plan,
    *,
    progress: ProgressCallback | None = None,
    by_row: bool | None = None,
    pseudonymize: Pseudonymize | None = None,
) -> EncodedProblem:
    """Check a table against a plan and encode what the plan names.

    `by_row` encodes each row separately, as recoders and comparisons need; by default the algorithm decides. Without
    `pseudonymize`, columns that would become pseudonyms keep their values: good enough to count, but not to release.
    """
    tell(progress, Stage.CHECKING, "the table against the plan")
    check_columns(source.columns, plan)
    source = source.without_marks(plan.missing_values)
    input_rows = source.rows
    if input_rows == 0:
        raise InputError("the table has no rows", code="table-no-rows")
    if plan.decorrelate is not None:
        source.in_memory("decorrelate")
    parts = divide(source, plan)
    source = with_pseudonyms(parts.source, plan, pseudonymize)
    if is_recoder(plan.search.algorithm) if by_row is None else by_row:
        source = FrameSource(source.in_memory(f"algorithm {plan.search.algorithm}"), merged=False)
    sensitive = {name: plan.attributes[name].hierarchy for name in plan.counted_attributes}
    unit = plan.unit
    tell(progress, Stage.ENCODING, f"{input_rows:,} rows")
    tuples = source.distinct(list(dict.fromkeys((*plan.quasi_identifiers, *sensitive, *unit.needed_columns))))
    _refuse_starred(source, tuples, unit.links)
    table = encode(
        source,
        tuples,
        hierarchies(plan),
        missing=plan.missing,
        sensitive=sensitive,
        populations=parts.people,
        finest=plan.minimum_levels,
        person=PersonColumns(unit.columns, unit.links, unit.judges_sets) if unit.counts_people else None,
    )
    goal = _goal(source, plan, table, progress)
    return EncodedProblem(plan, source, tuples, table, goal, parts.populations, parts.hashes, input_rows)


def with_plan(encoded: EncodedProblem, plan: Plan, progress: ProgressCallback | None) -> EncodedProblem:
    """Return an encoded table under another plan, which encodes it in the same way, after the checks of that plan."""
    return replace(encoded, plan=plan, goal=_goal(encoded.source, plan, encoded.table, progress))


def _goal(source: TableSource, plan: Plan, table: EncodedTable, progress: ProgressCallback | None) -> Goal:
    """Return the requirements of a plan; refuse a table that cannot meet them."""
    refuse_few(plan, table)
    _refuse_marked_labels(table, plan)
    check_models(plan, table.domains)
    refuse_unsafe(source, plan, table)
    return Goal(
        models=plan.judging_models,
        metric=plan.metric,
        weights={name: float(attribute.weight) for name, attribute in plan.attributes.items()},
        limit=plan.most_suppressed(table.rows),
        options=plan.search.options,
        time_limit=plan.search.time_limit,
        progress=progress,
    )


def _refuse_marked_labels(table: EncodedTable, plan: Plan) -> None:
    """Refuse a label that is also a text for missing: in the release nobody could tell which of them is meant."""
    for column in table.columns if plan.missing_values else ():
        levels = [level for level, labels in enumerate(column.labels) if set(labels) & set(plan.missing_values)]
        if levels:
            raise InputError(
                f"column {column.name!r}: level {column.finest + levels[0]} of the hierarchy has a label that "
                "missing_values lists, too; rename the label, or take the text out of missing_values",
                code="missing-value-is-label",
            )


def _refuse_starred(source: TableSource, tuples: Tuples, ties: Sequence[str]) -> None:
    """Refuse a column that ties rows together and has cells with `*`, which marks suppressed rows in a release."""
    for name in ties:
        starred = (tuples.text(name) == SUPPRESSED).fill_null(value=False).to_numpy()
        if starred.any():
            raise InputError(
                f"people are counted by column {name!r}, which has {source.where(tuples, starred)} with *, the mark of "
                "a suppressed row; give these rows a value or remove them",
                code="person-missing",
            )


def refuse_few(plan: Plan, table: EncodedTable) -> None:
    """Refuse a table that is smaller than the smallest class that a model accepts."""
    unit = ROWS if table.persons is None else PEOPLE
    for number, model in enumerate(plan.models, start=1):
        if model.smallest_class > table.size:
            raise InputError(
                f"models: entry {number}: model {model.name} asks for classes of {unit.count(model.smallest_class)}, "
                f"but the table has only {unit.count(table.size)}",
                code="model-beyond-rows",
            )


def check_models(plan: Plan, domains: Mapping[str, Domain]) -> None:
    """Refuse a table that a model of the plan cannot judge or can never accept."""
    for number, model in enumerate(plan.models, start=1):
        with Within(f"models: entry {number}"):
            model.check(domains)
