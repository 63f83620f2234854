"""The success of three attackers: prosecutor, journalist and marketer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kohorte.in_words import ROWS, Unit, listed
from kohorte.kernels.arrays import Counts, Floats
from kohorte.risks.population import UNKNOWN, People
from kohorte.risks.shown.alike import Alike

EXACT = 1e-12
"""Risks whose relative difference is smaller count as equal."""

COUNTED = ("at_highest_risk", "at_lowest_risk", "above_threshold")


@dataclass(frozen=True)
class Attacker:
    """What an attacker can achieve with the rows that are not suppressed.

    `success_rate` is the share of attempts that find the right person. The risks are those of single rows or, where the
    unit is people, of persons: the risk of a person is the highest of their rows. The same unit is counted by
    `at_highest_risk`, `at_lowest_risk`, `above_threshold` and `count`, the number of all. All are 0 if every row is
    suppressed. `basis` says how the figures were obtained.
    """

    name: str
    success_rate: float
    highest_risk: float
    average_risk: float
    lowest_risk: float
    at_highest_risk: int
    at_lowest_risk: int
    above_threshold: int
    count: int
    basis: str
    unit: Unit = ROWS

    def share(self, some: int) -> float:
        """A number of rows or people as a share of those that are not suppressed."""
        return some / self.count if self.count else 0.0

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data; the keys of counts begin with what is counted."""
        counted = {name: getattr(self, name) for name in COUNTED}
        told = {name: value for name, value in vars(self).items() if name not in (*COUNTED, "count", "basis", "unit")}
        return {
            **told,
            **{f"{self.unit.many}_{name}": value for name, value in counted.items()},
            "basis": self.basis,
            **{f"share_{name}": self.share(value) for name, value in counted.items()},
        }


@dataclass(frozen=True)
class Attackers:
    """The three attackers, assessed with the same threshold.

    Without a population (`told_apart` is False) the worst is assumed of all three, so that their figures are the same.
    """

    prosecutor: Attacker
    journalist: Attacker
    marketer: Attacker
    threshold: float
    told_apart: bool = True

    @property
    def by_figures(self) -> tuple[tuple[str, Attacker], ...]:
        """The attackers whose figures can differ, each with its name; all three as one if none can be told apart."""
        three = (self.prosecutor, self.journalist, self.marketer)
        if self.told_apart:
            return tuple((attacker.name, attacker) for attacker in three)
        return ((listed([attacker.name for attacker in three], "or"), replace(self.prosecutor, basis=UNKNOWN)),)

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        three = (self.prosecutor, self.journalist, self.marketer)
        figures = {attacker.name: attacker.to_dict() for attacker in three}
        return {"threshold": self.threshold, "told_apart": self.told_apart, **figures}


def attackers(table: Alike, people: People, *, threshold: float) -> Attackers:
    """Assess the three attackers.

    The prosecutor knows that a person is in the table: one of f who look alike is at risk 1 / f. The journalist does
    not know it: the risk is 1 / F, where F people of the population look like them. The marketer wants to find as
    many people as possible and is assessed by the average alone. Where people are counted, the average is that over
    all people, each with the highest risk of their rows.

    Source
        El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapter 16. The success
        rate of the journalist is the greater of two shares: of rows found when looking up the table in the population,
        and of people found when looking up the population in the table.
    """
    own = np.asarray(1 / np.maximum(table.sizes, 1), dtype=np.float64)
    others = people.risks(table)
    by_population = table.at_highest(others)
    prosecutor = _attacker("prosecutor", own, table.at_highest(own), threshold, "counted in the table", table.unit)
    journalist = _attacker("journalist", others, by_population, threshold, people.basis, table.unit)
    marketer = _attacker("marketer", others, by_population, threshold, people.basis, table.unit)
    if people.people is not None and len(table.sizes):
        by_people = len(table.sizes) / int(people.people.sum())
        journalist = _with_success(journalist, max(journalist.average_risk, by_people))
    return Attackers(prosecutor, journalist, marketer, threshold, told_apart=people.known)


def _with_success(attacker: Attacker, rate: float) -> Attacker:
    return Attacker(**{**vars(attacker), "success_rate": rate})


def _attacker(name: str, risks: Floats, counts: Counts, threshold: float, basis: str, unit: Unit) -> Attacker:
    """Assess an attacker; `counts` are those whose risk is that of each group."""
    everyone = int(counts.sum())
    if not everyone:
        return Attacker(name, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, basis, unit)
    average = float(risks @ counts) / everyone
    highest, lowest = float(risks[counts > 0].max()), float(risks[counts > 0].min())
    return Attacker(
        name=name,
        success_rate=average,
        highest_risk=highest,
        average_risk=average,
        lowest_risk=lowest,
        at_highest_risk=int(counts[risks >= highest * (1 - EXACT)].sum()),
        at_lowest_risk=int(counts[risks <= lowest * (1 + EXACT)].sum()),
        above_threshold=int(counts[risks > threshold * (1 + EXACT)].sum()),
        count=everyone,
        basis=basis,
        unit=unit,
    )
