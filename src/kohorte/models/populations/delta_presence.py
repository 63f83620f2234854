"""delta-presence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import number
from kohorte.models.populations.population import PopulationModel
from kohorte.models.sensitive import ROUNDING

STRICT, IGNORE = "strict", "ignore"


@dataclass(frozen=True)
class DeltaPresence(PopulationModel):
    """delta-presence.

    Guarantee
        Among the people of the population who look like a class, at least the share `minimum` and at most the share
        `maximum` are in the release: someone who knows a person's quasi-identifiers cannot know with a certainty above
        `maximum` that the person is in it, nor, with a minimum above 0 and `empty_classes: strict`, with a certainty
        above 1 - `minimum` that the person is not.
    Leaves open
        What is known about a person who is in the release: attribute disclosure. With a minimum of 0 or `empty_classes:
        ignore`, kinds of people without a row in the release are known not to be in it. People of suppressed classes
        are exempt: they may or may not be among the suppressed rows.
    Monotone
        Without suppression only, with `empty_classes: strict`.
    Source
        Nergiz, Atzori and Clifton, Hiding the Presence of Individuals from Shared Databases, SIGMOD 2007. Not monotone
        with suppression: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität,
        dissertation, Technische Universität München, 2015, figure 3.4.
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
        """Not if empty classes are ignored: merging with one can bring a class below the minimum."""
        return super().monotone_under(limit) and (self.minimum == 0 or self.empty_classes == STRICT)

    def _shares(self, groups: Groups) -> Floats:
        """The share of each class among the people who look like it; infinite if there are none."""
        people = self.people(groups).counts
        shares: Floats = np.divide(groups.sizes, people, out=np.full(len(people), np.inf), where=people > 0)
        return shares

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether its share of the people who look like it is within the bounds."""
        shares = self._shares(groups)
        verdict: Bools = (shares >= self.minimum) & (shares <= self.maximum)
        return verdict

    def holds(self, groups: Groups) -> bool:
        """Tell whether every kind of person in the population has a row, if this is required.

        If every row is suppressed, nobody has one. People of single suppressed classes are exempt.
        """
        if not len(groups.kept_sizes):
            return not self._everybody_counts
        return not self._empty(groups)

    @property
    def _everybody_counts(self) -> bool:
        return self.empty_classes == STRICT and self.minimum > 0

    def _empty(self, groups: Groups) -> bool:
        return self._everybody_counts and self.people(groups).empty_classes > 0

    def gone(self, groups: Groups) -> Floats:
        """If n of N people are in a class and s of them are suppressed: n <= maximum * N + s * (1 - maximum).

        A class with too few rows has a part with too few or with none. Kinds of people without a row stay without one.
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
        """The smallest and the largest share of a class; None if nobody in the population looks like a class."""
        if not len(groups):
            return None
        shares = self._shares(groups)
        somebody_lacks = self.empty_classes == STRICT and self.people(groups).empty_classes > 0
        if not np.isfinite(shares).all():
            return None
        return 0.0 if somebody_lacks else float(shares.min()), float(shares.max())
