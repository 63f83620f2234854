"""The four estimators of the number of cells with exactly one person, from margins alone.

Source: M. Rauterberg, "Wie anonym sind anonymisierte Datensätze wirklich?". FG, RT, RR and OR are his names. None of
them is a bound (docs/how-to/plan-a-survey.md); beside them stand the expectation and the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from kohorte.errors import InputError
from kohorte.survey.spectrum import Spectrum, expand, largest_of_the_rest, spectra
from kohorte.survey.survey import Answers, Block

MOST_LISTED = 2_000_000
NEAR = 1e-9
"""Floating-point products differ from the true ones by far less, relatively; what is nearer is compared exactly."""


def deanonymizable_percent(singles: float, people: int) -> float:
    """DA: which percentage of the people is alone in a cell, if so many cells have one person."""
    return min(singles / people, 1.0) * 100


def degrees_of_freedom(survey: Answers, people: int) -> int:
    """FG: the product of the numbers of categories, of which the two largest lose one (with one question: it alone).

    Complexity: none to speak of. The number of people does not matter.
    """
    del people
    *others, last = sorted(survey.shape)
    return (last - 1) * (math.prod(others[:-1]) * (others[-1] - 1) if others else 1)


def truncated_margins(survey: Answers, people: int) -> int:
    """RT: the number of cells with trunc(people * probability) = 1.

    Exact. Complexity: at most `people` cells have a probability of 1 / people or more, and no other is looked at.
    """
    return _cells_between(spectra(survey.blocks), Fraction(1, people), Fraction(2, people))


def rounded_margins(survey: Answers, people: int) -> int:
    """RR: the number of cells with round(people * probability) = 1, where halves are rounded up.

    Exact. Complexity: as `truncated_margins`, with at most 2 * people cells.
    """
    return _cells_between(spectra(survey.blocks), Fraction(1, 2 * people), Fraction(3, 2 * people))


def orwell_coefficient(survey: Answers, people: int) -> float:
    """OR: the number of cells really used on average, 2 to the power of the entropy in bits.

    It is the product over independent questions; for questions with a joint table, whose entropy counts, it is less
    than the product over them unless they are independent. The number of people does not matter.
    """
    del people
    return float(math.prod(categories_used(block) for block in survey.blocks))


def categories_used(block: Block) -> float:
    """A: how many of the answers are really used on average; from 1 to their number, which equal frequencies reach."""
    used = [probability for probability in block.probabilities if probability]
    if len(set(used)) == 1:
        return float(len(used))  # exactly
    return min(math.pow(2.0, entropy(block)), float(len(used)))


def entropy(block: Block) -> float:
    """The entropy of the answers, in bits."""
    return math.fsum(-float(p) * math.log2(p) for p in block.probabilities if p) + 0.0


def _cells_between(parts: tuple[Spectrum, ...], low: Fraction, high: Fraction) -> int:
    """How many cells have a probability p with low <= p < high.

    The parts are multiplied one after the other. A product is followed as long as it can still become `low`, that is
    with the largest probabilities of all later parts. Each product that is followed so begins another cell of
    probability `low` or more, and there are at most 1 / low of those. Where the last decision is a near one it is made
    with whole numbers.
    """
    rest = largest_of_the_rest(parts)
    products = np.ones(1)
    steps: list[npt.NDArray[np.int64]] = []
    for part, largest in zip(parts, rest, strict=True):
        smallest = float(low) * (1 - NEAR) / (products * largest)
        if int(np.searchsorted(-part.probabilities, -smallest, side="left").sum()) > MOST_LISTED:
            raise InputError(
                f"RT and RR would have to list more than {MOST_LISTED:,} cells; use another estimator",
                code="survey-too-large",
            )
        _, pairs = expand(products, part, smallest)
        products = products[pairs // len(part.numerators)] * part.probabilities[pairs % len(part.numerators)]
        steps.append(pairs)
    near = np.zeros(len(products), dtype=bool)
    for border in (float(low), float(high)):
        near |= np.abs(products - border) <= border * NEAR
    inside = (products >= float(low)) & (products < float(high)) & ~near
    exact = [(row, cells) for row, cells in _traced(parts, steps, np.flatnonzero(near)) if low <= row < high]
    return sum(_counts(parts, steps, np.flatnonzero(inside))) + sum(cells for _, cells in exact)


def _traced(
    parts: tuple[Spectrum, ...], steps: list[npt.NDArray[np.int64]], rows: npt.NDArray[np.int64]
) -> list[tuple[Fraction, int]]:
    """The exact probability of some products, and how many cells have it."""
    found = []
    for end in rows.tolist():
        numerator, cells, row = 1, 1, end
        for part, pairs in zip(reversed(parts), reversed(steps), strict=True):
            row, place = divmod(int(pairs[row]), len(part.numerators))
            numerator *= part.numerators[place]
            cells *= part.cells[place]
        found.append((Fraction(numerator, math.prod(part.denominator for part in parts)), cells))
    return found


def _counts(parts: tuple[Spectrum, ...], steps: list[npt.NDArray[np.int64]], rows: npt.NDArray[np.int64]) -> list[int]:
    """How many cells have each of some products; small, because so probable a cell cannot be frequent."""
    cells = np.ones(len(rows), dtype=np.int64)
    for part, pairs in zip(reversed(parts), reversed(steps), strict=True):
        places = pairs[rows] % len(part.numerators)
        counts = np.array([min(count, 2**62) for count in part.cells], dtype=np.int64)  # those at hand are small
        cells *= counts[places]
        rows = pairs[rows] // len(part.numerators)
    found: list[int] = cells.tolist()
    return found


ESTIMATORS: Mapping[str, Callable[[Answers, int], float]] = {
    "FG": degrees_of_freedom,
    "RT": truncated_margins,
    "RR": rounded_margins,
    "OR": orwell_coefficient,
}
