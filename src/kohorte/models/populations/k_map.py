"""k-map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools
from kohorte.models.parameters import integer
from kohorte.models.populations.population import PopulationModel


@dataclass(frozen=True)
class KMap(PopulationModel):
    """k-map.

    Guarantee
        Every row that is not suppressed fits at least k people of the population: an attacker who does not know who is
        in the table finds at least k candidates for each row.
    Guarantee for people
        Everybody with a row that is not suppressed looks like at least k people of the population: an attacker who does
        not know who is in the table finds at least k candidates for each person.
    Leaves open
        Attackers who know that a person is in the table: a row may be unique in it. Attribute disclosure. People who
        are missing in the population table, or about whom it is wrong.
    Leaves open for people
        Attackers who know that a person is in the table: few people may share the person's class in it. Attribute
        disclosure. People who are missing in the population table, or about whom it is wrong.
    Monotone
        With and without suppression.
    Source
        Sweeney, Computational Disclosure Control, PhD thesis, MIT 2001.
    """

    k: int

    name: ClassVar[str] = "k-map"
    example: ClassVar[str] = "{model: k-map, k: 5, population: citizens.csv}"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    monotone_for_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("k", self.k, least=1)

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether at least k people of the population look like it."""
        verdict: Bools = self.people(groups).counts >= self.k
        return verdict

    def reached(self, groups: Groups) -> float | None:
        """The smallest number of people of the population who look like a class."""
        return int(self.people(groups).counts.min()) if len(groups) else None
