"""k-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools
from kohorte.models.base import PrivacyModel
from kohorte.models.parameters import integer


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """k-anonymity.

    Guarantee
        Every row that is not suppressed shares its quasi-identifiers with at least k - 1 other rows: an attacker who
        links the release with other data by the quasi-identifiers finds at least k rows that fit a person.
    Guarantee for people
        Every class has rows of at least k different people: an attacker who links the release with other data by the
        quasi-identifiers of one row finds at least k candidates for each person.
    Leaves open
        Attribute disclosure: if all rows of a class share a diagnosis, it is known without finding the row. Attackers
        who know sensitive values of a person, and attributes wrongly declared insensitive.
    Leaves open for people
        Attribute disclosure: if all people of a class have a diagnosis in common, it is known without finding the row.
        Attackers who know sensitive values of a person, and attributes wrongly declared insensitive.
    Monotone
        With and without suppression.
    Source
        Samarati and Sweeney, Protecting Privacy when Disclosing Information: k-Anonymity and Its Enforcement through
        Generalization and Suppression, SRI International, 1998.
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    example: ClassVar[str] = "{model: k-anonymity, k: 5}"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    monotone_for_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        integer("k", self.k, least=1)

    @property
    def promises_nothing(self) -> bool:
        """Every class has at least one row."""
        return self.k < 2

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows of a class: k."""
        return self.k

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it has at least k rows."""
        verdict: Bools = groups.sizes >= self.k
        return verdict

    def reached(self, groups: Groups) -> float | None:
        """The size of the smallest class."""
        return int(groups.sizes.min()) if len(groups) else None
