"""Rows or people that are unique in the table, and people who are unique in the population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohorte.estimators import ESTIMATORS, Sample
from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.risks.population import People
from kohorte.risks.shown.alike import Alike


@dataclass(frozen=True)
class PopulationEstimate:
    """The result of one estimator; `uniques` is None if it has no estimate, and `reason` says why.

    `by` is the estimator used: `dankar` chooses one, `count` means that nothing was estimated.
    """

    estimator: str
    uniques: float | None
    share: float | None
    by: str
    reason: str = ""

    def to_dict(self) -> dict[str, object]:
        """The estimate as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class Uniqueness:
    """Unique rows, and people who are unique in the population; None if nothing is known about the population.

    Where the unit is people, `sample_uniques` counts people with a row, or with a set of classes, that nobody else has.
    `unique_in_both` are unique in the table and in the population. `by` is the estimator used; `population` if the
    figure was counted in a table of the population, `count` if nothing had to be estimated: no row is unique, or the
    table is the population.
    """

    sample_uniques: int
    sample_share: float
    population_size: float | None = None
    sampling_fraction: float | None = None
    population_uniques: float | None = None
    population_share: float | None = None
    unique_in_both: float | None = None
    by: str | None = None
    estimates: tuple[PopulationEstimate, ...] = ()
    unit: Unit = ROWS

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        in_both = "people_unique_in_table_and_population" if self.unit is PEOPLE else "rows_unique_in_population"
        found = {name: value for name, value in vars(self).items() if name not in ("unique_in_both", "by", "unit")}
        estimates = [estimate.to_dict() for estimate in self.estimates]
        return found | {in_both: self.unique_in_both, "by": self.by, "estimates": estimates}


def uniqueness(table: Alike, people: People) -> Uniqueness:
    """Count the unique rows or people, and estimate how many people are unique in the population.

    The figure is that of the rule of Dankar et al. (estimators/dankar.py); with a table of the population it is
    counted instead. If rows are recoded individually, only rows that exactly one person matches are counted. The share
    refers to the whole population. Where people are counted, the estimators get the people of each class, so that they
    estimate combinations of values that only one person of the population has: at most so many people.
    """
    alone = table.sizes == 1
    own = table.different(np.flatnonzero(alone).astype(np.uint32))
    share = own / table.count if table.count else 0.0
    if people.fraction is None or people.size is None:
        return Uniqueness(own, share, unit=table.unit)
    estimates = tuple(_estimate(name, table, people) for name in ESTIMATORS)
    chosen = estimates[list(ESTIMATORS).index("dankar")]
    uniques, by, both = chosen.uniques, chosen.by, None
    if uniques is not None:
        both = min(float(own), uniques * people.fraction)  # each of them is drawn with this probability
    if people.people is not None:
        both = float(table.different(np.flatnonzero(alone & (people.people == 1)).astype(np.uint32)))
    if people.uniques is not None:
        uniques, by = float(people.uniques), "population"
    return Uniqueness(
        sample_uniques=own,
        sample_share=share,
        population_size=people.size,
        sampling_fraction=people.fraction,
        population_uniques=uniques,
        population_share=None if uniques is None else uniques / people.size,
        unique_in_both=both,
        by=by,
        estimates=estimates,
        unit=table.unit,
    )


def _estimate(name: str, table: Alike, people: People) -> PopulationEstimate:
    assert people.fraction is not None
    assert people.size is not None
    found = ESTIMATORS[name](Sample.of(table.sizes, people.fraction))
    uniques = found.uniques
    if uniques is not None and table.unit is PEOPLE:
        uniques = min(uniques, people.size)  # a person can be unique by several rows, but is one person
    share = None if uniques is None else uniques / people.size
    return PopulationEstimate(name, uniques, share, found.by, found.reason)
