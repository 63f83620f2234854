"""The expected number of cells with exactly one person: N * sum of p (1 - p)^(N - 1) over all cells.

Let P be the probability of the cell of a person drawn at random. P is a product of independent parts, one for each
question (or joint table), and the expectation is N * E[(1 - P)^(N - 1)]. Cells that contribute little are not listed:

* Parts are multiplied one after the other, the largest probabilities first. A product that can still become a cell
  with N * p above `SMALL` is followed. Each is the beginning of a different such cell, so there are at most N / SMALL.
* All cells below a product that is not followed have N * p <= SMALL. There (1 - p)^(N - 1) is expanded in powers of p,
  and the sum of p^k over such cells is a product over the questions, by one multiplication each. The partial sums
  of the expansion are alternately above and below the true value (Bonferroni's inequalities, for any p from 0 to 1), so
  the first omitted term bounds the error.
* If there are more than `MOST_FOLLOWED` products, the logarithms of the probabilities are summed on a fine grid
  (logarithms.py), with a larger error bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kohorte.survey.estimators.logarithms import FEWEST_PEOPLE, LogarithmGrid
from kohorte.survey.estimators.spectrum import Floats, Spectrum, expand, largest_of_the_rest, spectra
from kohorte.survey.questionnaire.survey import Answers

SMALL = 4.0
TERMS = 34
MOST_FOLLOWED = 500_000
POINTS = 2**20
EPSILON = 2.0**-52


@dataclass(frozen=True)
class Expectation:
    """The expected number of cells with one person; the true value differs by at most `error`."""

    singles: float
    error: float


def expected_singles(survey: Answers, people: int, *, most_followed: int = MOST_FOLLOWED) -> Expectation:
    """The expected number of cells with exactly one person, if people answer independently of each other."""
    if people == 1:
        return Expectation(1.0, 0.0)
    parts = spectra(survey.blocks)
    alone = _Alone(parts, people)
    products, masses = np.ones(1), np.ones(1)
    for number, part in enumerate(parts):
        lengths, pairs = expand(products, part, SMALL / people / (products * alone.rest[number]))
        if len(pairs) > most_followed and people >= FEWEST_PEOPLE:
            return _by_logarithms(survey, people)
        alone.leave(number, products, masses, lengths)
        heads, places = pairs // len(part.numerators), pairs % len(part.numerators)
        products, masses = products[heads] * part.probabilities[places], masses[heads] * part.masses[places]
    alone.add(masses, products)
    return alone.expectation(len(parts))


def _by_logarithms(survey: Answers, people: int) -> Expectation:
    single, error = LogarithmGrid(survey.blocks, POINTS).alone(survey.blocks, people)
    return Expectation(max(0.0, people * single), people * error)


class _Alone:
    """Adds up the probability that a person is alone, E[(1 - P)^(N - 1)], between two bounds."""

    def __init__(self, parts: Sequence[Spectrum], people: int) -> None:
        self.parts, self.others = parts, people - 1
        self.people = people
        self.rest = largest_of_the_rest(parts)
        self.low = self.high = 0.0

    def expectation(self, parts: int) -> Expectation:
        """The middle of the bounds, times the number of people; the error includes rounding.

        A term of the expansion is at most SMALL^k / k!, so all terms together at most e^SMALL, each with the rounding
        of its factors; if a cell is added individually, a relative error d of p changes the term by at most d.
        """
        rounding = (2 * TERMS + 2 * parts + 20) * math.exp(SMALL) * EPSILON
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return Expectation(max(0.0, self.people * middle), self.people * (half + rounding))

    def add(self, masses: Floats, probabilities: Floats) -> None:
        """Add cells by their probability."""
        found = float(masses @ self._alone(probabilities))
        self.low += found
        self.high += found

    def _alone(self, probabilities: Floats) -> Floats:
        with np.errstate(divide="ignore"):  # a cell that holds all people: no one is alone
            found: Floats = np.exp(self.others * np.log1p(-np.minimum(probabilities, 1.0)))
        return found

    def leave(self, number: int, products: Floats, masses: Floats, lengths: npt.NDArray[np.int64]) -> None:
        """Add the cells below each product whose probability of this part is not among the first `lengths`."""
        part = self.parts[number]
        for length in np.unique(lengths[lengths < len(part.numerators)]).tolist():
            here = lengths == length
            largest = float(part.probabilities[length]) * self.rest[number]
            self._expand(products[here] * largest * self.people, masses[here], self._moments(number, length))

    def _moments(self, number: int, length: int) -> Floats:
        """E[P^k] of what follows a product, each divided by the largest P to that power, for k = 0, 1, 2, ..."""
        part, powers = self.parts[number], np.arange(TERMS + 1)[:, None]
        largest = float(part.probabilities[length]) or 1.0  # 0 if too small for a float: then all powers are 0
        found: Floats = ((part.probabilities[length:] / largest) ** powers * part.masses[length:]).sum(axis=1)
        for later in self.parts[number + 1 :]:
            found = found * ((later.probabilities / later.largest) ** powers * later.masses).sum(axis=1)
        return found

    def _expand(self, sizes: Floats, masses: Floats, moments: Floats) -> None:
        """Add the mean of (1 - P)^(N - 1) by powers; `sizes` is the largest N * P below each product."""
        falling = np.cumprod([1.0, *((self.others - k) / (k + 1) / self.people for k in range(TERMS))])
        factors = falling * moments * (-1.0) ** np.arange(TERMS + 1)
        found = np.zeros(len(sizes))
        for factor in factors[:TERMS][::-1]:
            found = found * sizes + factor
        last = factors[TERMS] * sizes**TERMS  # 0 if there are no more people than terms
        ends = float(masses @ found), float(masses @ (found + last))
        self.low += min(ends)
        self.high += max(ends)
