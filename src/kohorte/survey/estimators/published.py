"""Four published estimators of the number of cells with exactly one person, from margins alone.

Source: Rauterberg, "Wie anonym sind anonymisierte Datensätze wirklich?". FG, RT, RR and OR are his names. None of
them is a bound (docs/how-to/plan-a-survey.md); the expectation and the worst case complement them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from kohorte.errors import InputError
from kohorte.survey.estimators.spectrum import Spectrum, expand, largest_of_the_rest, spectra
from kohorte.survey.questionnaire.survey import Answers, Block

MOST_LISTED = 2_000_000
NEAR = 1e-9
"""The relative error of floating-point products is far smaller; closer comparisons are made exactly."""


def deanonymizable_percent(singles: float, people: int) -> float:
    """DA: the percentage of people who are alone in a cell, from the number of cells with one person."""
    return min(singles / people, 1.0) * 100


def degrees_of_freedom(survey: Answers, people: int) -> int:
    """FG: the product of the numbers of categories, the two largest reduced by one (the only one for one question).

    Complexity: a product over the questions. The number of people does not matter.
    """
    del people
    *others, last = sorted(survey.shape)
    return (last - 1) * (math.prod(others[:-1]) * (others[-1] - 1) if others else 1)


def truncated_margins(survey: Answers, people: int) -> int:
    """RT: the number of cells with trunc(people * probability) = 1.

    Exact. Complexity: at most `people` cells have a probability of 1 / people or more, and only these are examined.
    """
    return _cells_between(spectra(survey.blocks), Fraction(1, people), Fraction(2, people))


def rounded_margins(survey: Answers, people: int) -> int:
    """RR: the number of cells with round(people * probability) = 1, where halves are rounded up.

    Exact. Complexity: as `truncated_margins`, with at most 2 * people cells.
    """
    return _cells_between(spectra(survey.blocks), Fraction(1, 2 * people), Fraction(3, 2 * people))


def orwell_coefficient(survey: Answers, people: int) -> float:
    """OR: the number of cells really used on average, 2 to the power of the entropy in bits.

    It is a product over independent questions; for questions with a joint table the entropy of the table is used, which
    gives less than the product unless they are independent. The number of people does not matter.
    """
    del people
    return float(math.prod(categories_used(block) for block in survey.blocks))


def categories_used(block: Block) -> float:
    """A: how many of the answers are really used on average; at most their number, reached with equal frequencies."""
    used = [probability for probability in block.probabilities if probability]
    if len(set(used)) == 1:
        return float(len(used))  # exactly
    return min(math.pow(2.0, entropy(block)), float(len(used)))


def entropy(block: Block) -> float:
    """The entropy of the answers, in bits."""
    return math.fsum(-float(p) * math.log2(p) for p in block.probabilities if p) + 0.0


def _cells_between(parts: tuple[Spectrum, ...], low: Fraction, high: Fraction) -> int:
    """The number of cells with a probability p such that low <= p < high.

    The parts are multiplied one after the other. A product is followed as long as it can still reach `low` with the
    largest probabilities of all later parts. Each such product is the beginning of a different cell of probability
    `low` or more, and there are at most 1 / low of those. Close decisions at the end are made with whole numbers.
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
            row, position = divmod(int(pairs[row]), len(part.numerators))
            numerator *= part.numerators[position]
            cells *= part.cells[position]
        found.append((Fraction(numerator, math.prod(part.denominator for part in parts)), cells))
    return found


def _counts(parts: tuple[Spectrum, ...], steps: list[npt.NDArray[np.int64]], rows: npt.NDArray[np.int64]) -> list[int]:
    """The number of cells with each of some products; small, because cells of this probability are few."""
    cells = np.ones(len(rows), dtype=np.int64)
    for part, pairs in zip(reversed(parts), reversed(steps), strict=True):
        positions = pairs[rows] % len(part.numerators)
        counts = np.array([min(count, 2**62) for count in part.cells], dtype=np.int64)  # those in use are small
        cells *= counts[positions]
        rows = pairs[rows] // len(part.numerators)
    found: list[int] = cells.tolist()
    return found


ESTIMATORS: Mapping[str, Callable[[Answers, int], float]] = {
    "FG": degrees_of_freedom,
    "RT": truncated_margins,
    "RR": rounded_margins,
    "OR": orwell_coefficient,
}
