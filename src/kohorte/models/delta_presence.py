"""delta-presence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import number
from kohorte.models.population import PopulationModel
from kohorte.models.sensitive import ROUNDING

STRICT, IGNORE = "strict", "ignore"


@dataclass(frozen=True)
class DeltaPresence(PopulationModel):
    """delta-presence.

    Guarantee
        Of the people in the population that look like a class, at least the share `minimum` and at most the share
        `maximum` are in the release: whoever knows a person's quasi-identifiers cannot be surer than `maximum` that the
        person is in it, nor, with a minimum above 0 and `empty_classes: strict`, surer than 1 - `minimum` that the
        person is not.
    Leaves open
        What is known of a person who is in the release: attribute disclosure. With a minimum of 0 or `empty_classes:
        ignore`, people like whom nobody is in the release are known not to be in it. People of suppressed classes are
        exempt: they may be among the suppressed rows or not.
    Monotone
        Without suppression only, with `empty_classes: strict`.
    Source
        Nergiz, Atzori and Clifton, Hiding the Presence of Individuals from Shared Databases, SIGMOD 2007; figure 3.4
        of the dissertation.
    """

    minimum: float
    maximum: float
    empty_classes: str = STRICT

    name: ClassVar[str] = "delta-presence"
    example: ClassVar[str] = "{model: delta-presence, minimum: 0.05, maximum: 0.15, population: citizens.csv}"
    about_all: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number("minimum", self.minimum, least=0, most=1)
        number("maximum", self.maximum, least=self.minimum, most=1)
        if self.empty_classes not in (STRICT, IGNORE):
            raise InputError(f"empty_classes is {STRICT} or {IGNORE}", code="model-parameter")

    def monotone_under(self, limit: int) -> bool:
        """Where empty classes are ignored, joining one can bring a class below the minimum."""
        return super().monotone_under(limit) and (self.minimum == 0 or self.empty_classes == STRICT)

    def _shares(self, groups: Groups) -> Floats:
        """The share of a class among the people like it; infinite where there are none, which no table may have."""
        people = self.people(groups).counts
        shares: Floats = np.divide(groups.sizes, people, out=np.full(len(people), np.inf), where=people > 0)
        return shares

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether its share of the people like it is within the bounds."""
        shares = self._shares(groups)
        verdict: Bools = (shares >= self.minimum) & (shares <= self.maximum)
        return verdict

    def holds(self, groups: Groups) -> bool:
        """Tell whether there is nobody in the population like whom no row is."""
        return not self._empty(groups)

    def _empty(self, groups: Groups) -> bool:
        counts = self.empty_classes == STRICT and self.minimum > 0
        return counts and self.people(groups).empty_classes > 0

    def gone(self, groups: Groups) -> Floats:
        """Where n of N people are in a class, and s of them are suppressed: n <= maximum * N + s * (1 - maximum).

        A class with too few has a part with too few, or one with none. People like whom there is no row remain so.
        """
        people = self.people(groups).counts
        if self._empty(groups):
            return groups.sizes.astype(np.float64)
        shares = self._shares(groups)
        too_few = (shares < self.minimum) & (self.empty_classes == STRICT)
        if self.maximum >= 1.0 - ROUNDING:
            return np.where(too_few, 1.0, 0.0)
        excess = (groups.sizes - self.maximum * people) / (1.0 - self.maximum)
        return np.where(shares > self.maximum, excess, np.where(too_few, 1.0, 0.0))

    def reached(self, groups: Groups) -> tuple[float, float] | None:
        """The smallest and the largest share of a class; None where a class is like nobody in the population."""
        if not len(groups):
            return None
        shares = self._shares(groups)
        somebody_lacks = self.empty_classes == STRICT and self.people(groups).empty_classes > 0
        if not np.isfinite(shares).all():
            return None
        return 0.0 if somebody_lacks else float(shares.min()), float(shares.max())
