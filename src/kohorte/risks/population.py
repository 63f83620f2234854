"""What is known about the population of a table: nothing, its size, or a table of its people."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.data import as_text, person_keys, to_polars, without_marks
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Counts, Floats
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON
from kohorte.plans.search_options import is_number
from kohorte.release.shown_classes import Classes
from kohorte.risks.covered_people import people_covered
from kohorte.risks.expected_risk import expected_risk
from kohorte.risks.shown.alike import Alike
from kohorte.risks.shown.table import ShownTable
from kohorte.sources import FrameSource

SIZE = "\0size"
UNKNOWN = "population unknown: assumes that the attacker knows who is in the table"


@dataclass(frozen=True, eq=False)
class People:
    """The population of a table.

    `fraction` is the sampling fraction; None if nothing is known, and then the worst is assumed: the attacker knows who
    is in the table. If a table of the population is given, `people` counts the people who look like each class, and
    `uniques` those who look like nobody else. `uniques` is None if rows are recoded individually, because it is then
    undefined what people outside the table would look like.
    """

    size: float | None = None
    fraction: float | None = None
    people: Counts | None = field(default=None, repr=False)
    uniques: int | None = None

    @property
    def basis(self) -> str:
        """How the figures were obtained, in words."""
        if self.people is not None:
            return "counted in a table of the population"
        if self.fraction is not None:
            return "estimated from the sampling fraction"
        return UNKNOWN

    @property
    def known(self) -> bool:
        """Whether anything is known about the population."""
        return self.people is not None or self.fraction is not None

    def risks(self, groups: Alike) -> Floats:
        """The risk of a member of each group: 1 / number of people of the population who look like it."""
        if self.people is not None:
            return np.asarray(1 / np.maximum(self.people, 1), dtype=np.float64)
        return expected_risk(groups.sizes, 1.0 if self.fraction is None else self.fraction)


def people_of(
    table: ShownTable,
    groups: Alike,
    plan: Plan,
    *,
    size: float | None = None,
    fraction: float | None = None,
    population: object = None,
) -> People:
    """Return what is known about the population, from at most one of its size, the sampling fraction or a table.

    `groups` are those of the table. A table of the population has one row per person, unless it has the columns of the
    plan's `person`.
    """
    if sum(given is not None for given in (size, fraction, population)) > 1:
        raise InputError(
            "give only one of a population table, a population size and a sampling fraction",
            code="risk-population-twice",
        )
    if population is not None:
        _refuse_sets(table)
        return _counted(table, groups, plan, without_marks(to_polars(population)[0], plan.missing_values))
    if fraction is not None:
        if not is_number(fraction) or not 0 < fraction <= 1:
            raise InputError(
                f"sampling_fraction (--sampling-fraction) must be above 0 and at most 1, not {fraction!r}",
                code="risk-sampling-fraction",
            )
        return People(_all(table) / fraction, float(fraction))
    if size is None:
        return People()
    if not is_number(size) or not math.isfinite(size) or size < 1:
        raise InputError(
            f"population_size (--population-size) must be a number of people, not {size!r}", code="risk-population-size"
        )
    _refuse_small(table, size)
    return People(float(size), _all(table) / size)


def _all(table: ShownTable) -> int:
    """The rows of the table, or its people, suppressed ones included."""
    return table.rows if table.people is None else table.people.everybody


def _refuse_small(table: ShownTable, size: float) -> None:
    if size < _all(table):
        raise InputError(
            f"the population has {size:,.0f} people, fewer than the {_all(table):,} {table.unit.many} of the table, "
            "which must be part of it",
            code="risk-population-small",
        )


def _refuse_sets(table: ShownTable) -> None:
    if table.people is not None and table.people.by_sets:
        raise InputError(
            "people are judged by all their rows together (attacker_knows: all_rows, or a column that ties rows "
            "together), so they cannot be looked up in a table of the population; give its size or a sampling fraction",
            code="risk-population-sets",
        )


def _counted(table: ShownTable, groups: Alike, plan: Plan, population: pl.DataFrame) -> People:
    """Count the people of a population who look like each class.

    The population is generalized to the levels of the table. If these differ from row to row, the people are counted
    whom the cells of the class cover; several classes can cover the same person.
    """
    if absent := [name for name in table.names if name not in population.columns]:
        hints = ", ".join(repr(name) + nearest(name, population.columns) for name in absent)
        raise InputError(
            f"the population table lacks quasi-identifiers of the plan: {hints}", code="population-columns"
        )
    people = _by_person(population, table, plan)
    size = people.height if PERSON not in people.columns else people[PERSON].n_unique()
    _refuse_small(table, size)
    counts, uniques = _at_levels(table, plan, people) or (_covered(table, people, plan), None)
    lacking = int(np.maximum(groups.sizes - counts, 0).sum())
    if lacking:
        raise InputError(
            f"everyone in the table must be in the population, but it has too few people like "
            f"{table.unit.count(lacking)} of the table",
            code="population-lacks-rows",
        )
    return People(float(size), _all(table) / size, counts, uniques)


def _by_person(population: pl.DataFrame, table: ShownTable, plan: Plan) -> pl.DataFrame:
    """The quasi-identifiers of a population, and whom each row is about if people are counted and it says so."""
    people = population.select(pl.Series(population[name]) for name in table.names)
    if table.people is None or not set(plan.unit.columns) <= set(population.columns):
        return people
    whom = person_keys([as_text(population[name]) for name in plan.unit.columns])
    if whom.null_count():
        raise InputError(
            f"the population table: {whom.null_count():,} rows do not say whom they are about", code="person-missing"
        )
    return people.with_columns(whom.alias(PERSON))


def _covered(table: ShownTable, people: pl.DataFrame, plan: Plan) -> Counts:
    kinds = ShownTable.of(people, table.names)
    if PERSON not in people.columns:
        return people_covered(table, kinds, plan)
    return people_covered(
        table, kinds, plan, person_of_row=people[PERSON].rank("dense").to_numpy().astype(np.int64) - 1
    )


def _at_levels(table: ShownTable, plan: Plan, people: pl.DataFrame) -> tuple[Counts, int | None] | None:
    """Count the people of each class and the unique people, generalized to the levels of the table.

    None if a column has no single level.
    """
    classes = table.shown()
    if any(SUPPRESSED in column and column.n_unique() > 1 for column in classes.get_columns()):
        return None
    try:
        shown = (
            Classes(FrameSource(classes).count_shown(table.names), table.names, suppressed=None).as_shown(people, plan)
            if table.classes
            else people.select(table.names)
        )
    except InputError as error:
        if error.code == "verify-level-unclear":
            return None
        raise InputError(f"the population table: {error.message}", code=error.code) from None
    whom = [people[PERSON]] if PERSON in people.columns else []
    names, size = list(table.names), pl.col(PERSON).n_unique() if whom else pl.len()
    kinds = shown.with_columns(whom).group_by(names).agg(size.alias(SIZE), *([pl.col(PERSON).first()] if whom else []))
    found = classes.join(kinds, on=names, how="left", nulls_equal=True, maintain_order="left")
    unique = kinds.filter(pl.col(SIZE) == 1)
    counts = found[SIZE].fill_null(0).to_numpy().astype(np.int64)
    return counts, unique[PERSON].n_unique() if whom else unique.height
