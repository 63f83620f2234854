"""Rows that are unique in the table, and people who are unique in the population."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.estimators import ESTIMATORS, Sample
from kohorte.risks.population import People
from kohorte.risks.shown.table import ShownTable


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

    `by` is the estimator used; `population` if the figure was counted in a table of the population, `count` if nothing
    had to be estimated: no row is unique, or the table is the population.
    """

    sample_uniques: int
    sample_share: float
    population_size: float | None = None
    sampling_fraction: float | None = None
    population_uniques: float | None = None
    population_share: float | None = None
    rows_unique_in_population: float | None = None
    by: str | None = None
    estimates: tuple[PopulationEstimate, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {**vars(self), "estimates": [estimate.to_dict() for estimate in self.estimates]}


def uniqueness(table: ShownTable, people: People) -> Uniqueness:
    """Count the unique rows, and estimate with all estimators how many people are unique in the population.

    The figure is that of the rule of Dankar et al. (estimators/dankar.py); with a table of the population it is
    counted instead. If rows are recoded individually, only rows that exactly one person matches are counted. The share
    refers to the whole population.
    """
    alone = table.sizes == 1
    own = int(alone.sum())
    share = own / table.kept_rows if table.kept_rows else 0.0
    if people.fraction is None or people.size is None:
        return Uniqueness(own, share)
    estimates = tuple(_estimate(name, table, people) for name in ESTIMATORS)
    chosen = estimates[list(ESTIMATORS).index("dankar")]
    uniques, by, rows = chosen.uniques, chosen.by, None
    if uniques is not None:
        rows = min(float(own), uniques * people.fraction)  # each of them is drawn with this probability
    if people.people is not None:
        rows = float((alone & (people.people == 1)).sum())
    if people.uniques is not None:
        uniques, by = float(people.uniques), "population"
    return Uniqueness(
        sample_uniques=own,
        sample_share=share,
        population_size=people.size,
        sampling_fraction=people.fraction,
        population_uniques=uniques,
        population_share=None if uniques is None else uniques / people.size,
        rows_unique_in_population=rows,
        by=by,
        estimates=estimates,
    )


def _estimate(name: str, table: ShownTable, people: People) -> PopulationEstimate:
    assert people.fraction is not None
    assert people.size is not None
    found = ESTIMATORS[name](Sample.of(table.sizes, people.fraction))
    share = None if found.uniques is None else found.uniques / people.size
    return PopulationEstimate(name, found.uniques, share, found.by, found.reason)
