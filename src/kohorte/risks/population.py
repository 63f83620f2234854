"""What is known about the population of a table: nothing, its size, or a table of its people."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.data import to_polars, without_marks
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Counts, Floats
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import is_number
from kohorte.release.shown_classes import Classes
from kohorte.risks.covered_people import people_covered
from kohorte.risks.expected_risk import expected_risk
from kohorte.risks.shown.table import ShownTable
from kohorte.sources import FrameSource

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

    def risks(self, table: ShownTable) -> Floats:
        """The risk of a row of each class: 1 / number of people of the population who look like it."""
        if self.people is not None:
            return np.asarray(1 / np.maximum(self.people, 1), dtype=np.float64)
        return expected_risk(table.sizes, 1.0 if self.fraction is None else self.fraction)


def people_of(
    table: ShownTable,
    plan: Plan,
    *,
    size: float | None = None,
    fraction: float | None = None,
    population: object = None,
) -> People:
    """Return what is known about the population, from at most one of its size, the sampling fraction or a table."""
    if sum(given is not None for given in (size, fraction, population)) > 1:
        raise InputError(
            "give only one of a population table, a population size and a sampling fraction",
            code="risk-population-twice",
        )
    if population is not None:
        return _counted(table, plan, without_marks(to_polars(population)[0], plan.missing_values))
    if fraction is not None:
        if not is_number(fraction) or not 0 < fraction <= 1:
            raise InputError(
                f"sampling_fraction (--sampling-fraction) must be above 0 and at most 1, not {fraction!r}",
                code="risk-sampling-fraction",
            )
        return People(table.rows / fraction, float(fraction))
    if size is None:
        return People()
    if not is_number(size) or not math.isfinite(size) or size < 1:
        raise InputError(
            f"population_size (--population-size) must be a number of people, not {size!r}", code="risk-population-size"
        )
    _refuse_small(table, size)
    return People(float(size), table.rows / size)


def _refuse_small(table: ShownTable, size: float) -> None:
    if size < table.rows:
        raise InputError(
            f"the population has {size:,.0f} people, fewer than the {table.rows:,} rows of the table, which must be "
            "part of it",
            code="risk-population-small",
        )


def _counted(table: ShownTable, plan: Plan, population: pl.DataFrame) -> People:
    """Count the people of a population who look like each class.

    The population is generalized to the levels of the table. If these differ from row to row, the people are counted
    whom the cells of the class cover; several classes can cover the same person.
    """
    if absent := [name for name in table.names if name not in population.columns]:
        hints = ", ".join(repr(name) + nearest(name, population.columns) for name in absent)
        raise InputError(
            f"the population table lacks quasi-identifiers of the plan: {hints}", code="population-columns"
        )
    _refuse_small(table, population.height)
    people = population.select(pl.Series(population[name]) for name in table.names)
    counts, uniques = _at_levels(table, plan, people) or (
        people_covered(table, ShownTable.of(people, table.names), plan),
        None,
    )
    lacking = int(np.maximum(table.sizes - counts, 0).sum())
    if lacking:
        raise InputError(
            f"everyone in the table must be in the population, but it has too few people like {lacking:,} "
            f"row{'' if lacking == 1 else 's'} of the table",
            code="population-lacks-rows",
        )
    return People(float(population.height), table.rows / population.height, counts, uniques)


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
            else people
        )
    except InputError as error:
        if error.code == "verify-level-unclear":
            return None
        raise InputError(f"the population table: {error.message}", code=error.code) from None
    kinds = shown.group_by(pl.all()).len(name="\0people")
    found = classes.join(kinds, on=list(table.names), how="left", nulls_equal=True, maintain_order="left")
    counts = found["\0people"].fill_null(0).to_numpy().astype(np.int64)
    return counts, int((kinds["\0people"] == 1).sum())
