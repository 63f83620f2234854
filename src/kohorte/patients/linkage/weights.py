"""Weights of agreement and the two thresholds.

For every field and level, m is the probability of the level if both records are about the same person, and u if they
are about different people. The weight is log2(m / u), in bits. The weights of all fields are added. The probability
that two records drawn at random are about one person is 1 / people; log2 of this is added, too, so that the sum is
the logarithm of the odds. At `SAME` and above two records are taken for the same person, below `GREY` for different
people, and a person decides what lies between.

Sources
    I. P. Fellegi and A. B. Sunter, A Theory for Record Linkage, Journal of the American Statistical Association
    64(328), 1969.
    W. E. Winkler, Frequency-Based Matching in the Fellegi-Sunter Model of Record Linkage, U.S. Census Bureau, 2000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import log2

from kohorte.patients.linkage.comparison import Agreement, Level, compare
from kohorte.patients.linkage.frequencies import Frequencies
from kohorte.patients.linkage.given_names import COMMON
from kohorte.patients.linkage.record import Record

SAME = 9.0
"""Odds of about 500 to 1."""
GREY = -2.0
"""Odds of 1 to 4."""
FEWEST_PEOPLE = 10_000
"""The number of people from which a registered person comes, at least."""
MOST_FOR_ADDRESS = 4.0
"""An address is shared by a family, together with its name: its agreement never counts for more bits."""
KNOWN_NAME = 5
"""A first name that so many people have is a name, not a typing error."""
CLEARLY_BETTER = 6.0
"""By so many bits the best candidate must be ahead of the next person, or a person decides."""

_NAMES: Mapping[Level, tuple[float, float, float]] = {  # m, and u = share * factor + constant
    Level.EQUAL: (0.90, 1.0, 0.0),
    Level.NEARLY: (0.05, 0.1, 0.00002),
    Level.BIRTH_NAME: (0.03, 1.0, 0.0001),
    Level.SWAPPED: (0.01, 0.1, 0.0),
    Level.TYPING: (0.04, 0.5, 0.0003),
    Level.ALIKE: (0.01, 0.5, 0.002),
    Level.PARTLY: (0.02, 1.0, 0.001),
}
_FIRST_DIFFERENT = log2(0.008 / 0.97)
_LAST_DIFFERENT = log2(0.03 / 0.99)
_DATES: Mapping[Level, float] = {
    Level.EQUAL: log2(0.93 * 28_000),
    Level.SWAPPED: log2(0.008 / 1.3e-5),
    Level.TYPING: log2(0.03 / 0.00125),
    Level.ALIKE: log2(0.008 / 0.003),
    Level.PARTLY: log2(0.95 * 70),
    Level.DIFFERENT: log2(0.01 / 0.99),
}
_SEXES: Mapping[Level, float] = {Level.EQUAL: log2(0.98 / 0.5), Level.DIFFERENT: log2(0.01 / 0.5)}
_ADDRESSES: Mapping[Level, float] = {
    Level.TYPING: log2(0.03 / 0.004),
    Level.PARTLY: log2(0.08 / 0.05),
    Level.DIFFERENT: log2(0.15 / 0.93),
}
_NUMBERS: Mapping[Level, float] = {
    Level.EQUAL: log2(0.95 / 4e-6),
    Level.TYPING: log2(0.02 / 0.0003),
    Level.DIFFERENT: log2(0.03),
}


class Verdict(StrEnum):
    """What two records are, as far as their data says."""

    SAME = "same"
    GREY = "grey"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The agreement of two records, its weight in bits, and the verdict."""

    agreement: Agreement
    weight: float
    verdict: Verdict


@dataclass(frozen=True)
class Weighing:
    """Compares records: the frequencies of names, and how many people there are."""

    frequencies: Frequencies
    people: int = FEWEST_PEOPLE

    def compare(self, one: Record, other: Record) -> Comparison:
        """Compare two records and judge; of several spellings those count that agree most."""
        if not (one.others or other.others):
            return self._compared(one, other)
        spelled = product((one, *one.others), (other, *other.others))
        found = [self._compared(mine, theirs) for mine, theirs in spelled]
        return max(found, key=lambda comparison: (comparison.verdict is Verdict.SAME, comparison.weight))

    def _compared(self, one: Record, other: Record) -> Comparison:
        agreement = compare(one, other)
        weight = self.weight(agreement) - log2(max(self.people, FEWEST_PEOPLE))
        return Comparison(agreement, weight, self._verdict(agreement, weight, equal=one == other and one.certain))

    def weight(self, agreement: Agreement) -> float:
        """The sum of the weights of all fields."""
        return (
            self._name("first", agreement.first, agreement.shared_first, different=_FIRST_DIFFERENT)
            + self._name("last", agreement.last, agreement.shared_last, different=_LAST_DIFFERENT)
            + _DATES.get(agreement.date, 0.0)
            + self._sex(agreement)
            + self._address(agreement)
            + _NUMBERS.get(agreement.number, 0.0)
        )

    def _name(self, what: str, level: Level, shared: tuple[str, ...], *, different: float) -> float:
        """The weight of two names; of two spellings the commoner counts, because a typing error is always rare."""
        if level is Level.MISSING:
            return 0.0
        if level is Level.DIFFERENT:
            return different
        m, factor, constant = _NAMES[level]
        share = max((self.frequencies.share(what, name) for name in shared), default=0.0)
        return log2(m / (share * factor + constant))

    def _sex(self, agreement: Agreement) -> float:
        """Equal sex says nothing more where the first names are equal."""
        if agreement.sex is Level.EQUAL and agreement.first in (Level.EQUAL, Level.NEARLY, Level.TYPING):
            return 0.0
        return _SEXES.get(agreement.sex, 0.0)

    def _address(self, agreement: Agreement) -> float:
        if agreement.address is Level.EQUAL:
            share = self.frequencies.share("postcode", agreement.shared_postcode)
            return min(log2(0.8 / share), MOST_FOR_ADDRESS)
        return _ADDRESSES.get(agreement.address, 0.0)

    def _verdict(self, agreement: Agreement, weight: float, *, equal: bool) -> Verdict:
        """Judge by the weight; some agreements are for a person to decide, however much they weigh."""
        if equal or (weight >= SAME and _supported(agreement) and not self._two_names(agreement)):
            return Verdict.SAME
        if weight >= GREY or agreement.number is Level.EQUAL:
            return Verdict.GREY
        return Verdict.DIFFERENT

    def _two_names(self, agreement: Agreement) -> bool:
        """Whether the first names differ by a letter because they are two names, as of twins called Lena and Lina.

        A short list has not seen many names, so that the common ones are known everywhere.
        """
        if agreement.first is not Level.TYPING or agreement.number is Level.EQUAL:
            return False
        seen = self.frequencies.counts["first"]
        return all(name in COMMON or seen[name] >= KNOWN_NAME for name in agreement.first_names)


def _supported(agreement: Agreement) -> bool:
    """Whether names and date, or a number in their place, support that it is the same person.

    Twins share everything but the first name, or have one of several first names in common; newborn children have no
    first name yet. Numbers that differ are believed, unless everything else that says who the person is agrees.
    """
    if agreement.sex is Level.DIFFERENT or agreement.first in (Level.DIFFERENT, Level.MISSING):
        return False
    if agreement.number is Level.EQUAL:
        return True
    if agreement.number is Level.DIFFERENT and agreement.first is not Level.EQUAL:
        return False
    return (
        agreement.first not in (Level.ALIKE, Level.PARTLY)
        and agreement.last not in (Level.DIFFERENT, Level.MISSING)
        and agreement.date not in (Level.DIFFERENT, Level.MISSING, Level.ALIKE)
    )
