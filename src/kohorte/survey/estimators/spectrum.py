"""The number of cells of a survey with each probability, without listing the cells.

A survey of twenty questions can have 10^12 cells. But the probability of a cell is a product, and equal products are
counted together: a question with equal frequencies has one probability, and ten questions of the same kind with four
frequencies each have 286, not 1,048,576. Probabilities are whole numbers over one denominator, so equality is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kohorte.survey.questionnaire.survey import Block

MOST_PROBABILITIES = 2_000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """The distinct probabilities above 0 of the cells of some questions, the largest first, and how many have each."""

    denominator: int
    numerators: tuple[int, ...]
    cells: tuple[int, ...]

    @cached_property
    def probabilities(self) -> Floats:
        """The probabilities; each is the nearest floating-point number."""
        return np.array([numerator / self.denominator for numerator in self.numerators])

    @cached_property
    def masses(self) -> Floats:
        """The share of people in the cells of each probability; the shares sum to 1."""
        pairs = zip(self.numerators, self.cells, strict=True)
        return np.array([numerator * cells / self.denominator for numerator, cells in pairs])

    @property
    def largest(self) -> float:
        """The largest probability of a cell."""
        return float(self.probabilities[0])


def spectra(blocks: Iterable[Block]) -> tuple[Spectrum, ...]:
    """The spectra of independent parts of a survey, the longest first; equal parts are combined."""
    kinds = Counter(_spectrum(block) for block in blocks)
    alike: list[Spectrum] = []
    for kind, times in kinds.items():
        alike += _power(kind, times)
    uniform = [part for part in alike if len(part.numerators) == 1]
    others = [part for part in alike if len(part.numerators) > 1]
    for part in uniform[1:]:
        uniform[0] = _product(uniform[0], part)
    return tuple(sorted([*uniform[:1], *others], key=lambda part: -len(part.numerators)))


def _spectrum(block: Block) -> Spectrum:
    return _of(block.numerators, block.denominator)


def _power(kind: Spectrum, times: int) -> list[Spectrum]:
    """As few spectra as possible for the same questions asked several times."""
    found = [kind]
    for _ in range(times - 1):
        if len(found[-1].numerators) > MOST_PROBABILITIES:
            found.append(kind)
        else:
            found[-1] = _product(found[-1], kind)
    return found


def _product(one: Spectrum, other: Spectrum) -> Spectrum:
    cells: Counter[int] = Counter()
    for left, many in zip(one.numerators, one.cells, strict=True):
        for right, times in zip(other.numerators, other.cells, strict=True):
            cells[left * right] += many * times
    return _of(cells, one.denominator * other.denominator)


def _of(cells: Counter[int], denominator: int) -> Spectrum:
    numerators = tuple(sorted(cells, reverse=True))
    return Spectrum(denominator, numerators, tuple(cells[numerator] for numerator in numerators))


def largest_of_the_rest(parts: Sequence[Spectrum]) -> list[float]:
    """For each part the product of the largest probabilities of all later parts."""
    rest = [1.0]
    for part in reversed(parts[1:]):
        rest.append(rest[-1] * part.largest)
    return rest[::-1]


def expand(heads: Floats, part: Spectrum, smallest: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Find the pairs of a head and a probability of the next part that is above the head's `smallest`.

    Returns for each head the number of such probabilities (the largest ones), and the pairs as head times length of
    the part plus position in the part.
    """
    lengths = np.searchsorted(-part.probabilities, -smallest, side="left").astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    positions = np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(starts, lengths)
    pairs = np.repeat(np.arange(len(heads), dtype=np.int64), lengths) * len(part.numerators) + positions
    return lengths, pairs
