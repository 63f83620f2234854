"""The success of three attackers: prosecutor, journalist and marketer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kohorte.in_words import listed
from kohorte.kernels.arrays import Counts, Floats
from kohorte.risks.population import UNKNOWN, People
from kohorte.risks.shown.table import ShownTable

EXACT = 1e-12
"""Risks whose relative difference is smaller count as equal."""


@dataclass(frozen=True)
class Attacker:
    """What an attacker can achieve with the rows that are not suppressed.

    `success_rate` is the share of attempts that find the right person; the risks are those of single rows. All are
    0 if every row is suppressed. `basis` says how the figures were obtained.
    """

    name: str
    success_rate: float
    highest_risk: float
    average_risk: float
    lowest_risk: float
    rows_at_highest_risk: int
    rows_at_lowest_risk: int
    rows_above_threshold: int
    rows: int
    basis: str

    def share(self, rows: int) -> float:
        """A number of rows as a share of those that are not suppressed."""
        return rows / self.rows if self.rows else 0.0

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        shares = {
            "share_at_highest_risk": self.share(self.rows_at_highest_risk),
            "share_at_lowest_risk": self.share(self.rows_at_lowest_risk),
            "share_above_threshold": self.share(self.rows_above_threshold),
        }
        return {name: value for name, value in vars(self).items() if name != "rows"} | shares


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
        return {"threshold": self.threshold, **{attacker.name: attacker.to_dict() for attacker in three}}


def attackers(table: ShownTable, people: People, *, threshold: float) -> Attackers:
    """Assess the three attackers.

    The prosecutor knows that a person is in the table: a row in a class of f rows is at risk 1 / f. The journalist does
    not know it: the risk is 1 / F, where F people of the population look like the row. The marketer wants to find as
    many people as possible and is assessed by the average alone.

    Source
        El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapter 16. The success
        rate of the journalist is the greater of two shares: of rows found when looking up the table in the population,
        and of people found when looking up the population in the table.
    """
    own = np.asarray(1 / np.maximum(table.sizes, 1), dtype=np.float64)
    others = people.risks(table)
    prosecutor = _attacker("prosecutor", own, table.sizes, threshold, "counted in the table")
    journalist = _attacker("journalist", others, table.sizes, threshold, people.basis)
    marketer = _attacker("marketer", others, table.sizes, threshold, people.basis)
    if people.people is not None and table.classes:
        by_people = table.classes / int(people.people.sum())
        journalist = _with_success(journalist, max(journalist.average_risk, by_people))
    return Attackers(prosecutor, journalist, marketer, threshold, told_apart=people.known)


def _with_success(attacker: Attacker, rate: float) -> Attacker:
    return Attacker(**{**vars(attacker), "success_rate": rate})


def _attacker(name: str, risks: Floats, sizes: Counts, threshold: float, basis: str) -> Attacker:
    rows = int(sizes.sum())
    if not rows:
        return Attacker(name, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, basis)
    average = float(risks @ sizes) / rows
    highest, lowest = float(risks.max()), float(risks.min())
    return Attacker(
        name=name,
        success_rate=average,
        highest_risk=highest,
        average_risk=average,
        lowest_risk=lowest,
        rows_at_highest_risk=int(sizes[risks >= highest * (1 - EXACT)].sum()),
        rows_at_lowest_risk=int(sizes[risks <= lowest * (1 + EXACT)].sum()),
        rows_above_threshold=int(sizes[risks > threshold * (1 + EXACT)].sum()),
        rows=rows,
        basis=basis,
    )
