"""Find how many people must be asked to reach a wanted percentage with unchanged questions."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from kohorte.survey.estimators.spectrum import spectra
from kohorte.survey.planning.judging import percentage_by, reaches
from kohorte.survey.questionnaire.survey import Survey

MOST_PEOPLE = 10**9
MOST_LISTED = 20_000


def least_people(survey: Survey, percent: float, by: str, singles: Callable[[int], float], people: int) -> int | None:
    """The smallest number of at least `people` people that reaches the percentage by an estimator; None if not found.

    FG and OR do not depend on the number of people. The expected percentage decreases with it, so bisection is used.
    RT and RR jump up and down: all their jumps are examined if the cells can be listed; otherwise there is no answer.
    The bound of the worst case jumps, too, but by at most the number of cells: the number of people that is found
    reaches the percentage, but may not be the smallest.
    """
    if percent <= 0 and by in ("OR", "expected", "worst"):
        return None
    judge = percentage_by(by, survey)
    if judge is not None:
        return _by_halving(lambda count: judge.reaches(survey, count, percent), people)
    if by in ("RT", "RR"):
        return _by_jumps(survey, percent, people, half=by == "RR")
    alone = singles(people)
    enough = max(people, math.ceil(alone * 100 / percent)) if percent > 0 else people
    if enough > MOST_PEOPLE:
        return None
    while enough > people and reaches(alone, enough - 1, percent):  # at most a few steps, because of rounding
        enough -= 1
    return enough if reaches(alone, enough, percent) else None


def _by_halving(enough: Callable[[int], bool], people: int) -> int | None:
    """The first number that is enough, by bisection; assumes that every larger number is enough, too."""
    high = people
    while not enough(high):
        high *= 2
        if high > MOST_PEOPLE:
            return None
    return people + bisect.bisect_left(range(people, high), True, key=enough)


def _by_jumps(survey: Survey, percent: float, people: int, *, half: bool) -> int | None:
    """Examine all jumps; between two of them the number of single cells is constant and the percentage decreases."""
    cells: dict[Fraction, int] = {Fraction(1): 1}
    for part in spectra(survey.blocks):
        if len(cells) * len(part.numerators) > MOST_LISTED:
            return None
        pairs = itertools.product(cells.items(), zip(part.numerators, part.cells, strict=True))
        products: dict[Fraction, int] = {}
        for (probability, many), (numerator, times) in pairs:
            product = probability * Fraction(numerator, part.denominator)
            products[product] = products.get(product, 0) + many * times
        cells = products
    low, high = (Fraction(1, 2), Fraction(3, 2)) if half else (Fraction(1), Fraction(2))
    jumps = {people: 0}
    for probability, many in cells.items():
        for border, change in ((low, many), (high, -many)):
            at = max(people, math.ceil(border / probability))
            jumps[at] = jumps.get(at, 0) + change
    singles = 0
    ends = [*sorted(jumps)[1:], None]
    for start, end in zip(sorted(jumps), ends, strict=True):
        singles += jumps[start]
        wanted = start if not singles else math.ceil(singles * 100 / Fraction(repr(percent))) if percent > 0 else None
        first = None if wanted is None else max(start, people, wanted)
        if first is not None and (end is None or first < end):
            return first
    return None
