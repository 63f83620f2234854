"""The best case: the smallest number of cells with exactly one person in any table with the expected margins.

The source of the worst case calls this the favourable case (*günstig*; Rauterberg, "Wie anonym sind anonymisierte
Datensätze wirklich?", tables 1 to 9) and looks for it by hand. The margins are those of worst_case.py.

**A lower bound, with its proof.** A category with exactly one person has exactly one cell that is not empty, and in it
this person is alone. Different categories of a question have different cells. So a table has at least as many cells
with one person as any question has categories with one person.

**An upper bound** is a table that was constructed: each step fills a cell with all that one of its categories has left
(north-west corner rule), so that few cells are in use. If both agree, the answer is exact; if not and there are few
cells, an integer program is solved, up to a fixed number of steps (integer_program.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kohorte.survey.estimators.integer_program import search_fewest
from kohorte.survey.estimators.published import deanonymizable_percent
from kohorte.survey.estimators.worst_case import MOST_SOLVED_CELLS, MOST_SOLVED_PEOPLE, Margins, margins_in_people
from kohorte.survey.questionnaire.survey import Survey

TRIALS = 30
FEW_CATEGORIES = 200


@dataclass(frozen=True)
class BestCase:
    """No table with the expected margins has fewer than `fewest` cells with one person; some table has `at_most`.

    `exact` says whether both are equal. It is no promise: people need not answer in the best way. The best case that
    people read, `singles`, is never above the `expected` number, as in the worst case.
    """

    fewest: int
    at_most: int
    people: int
    expected: float = math.inf

    @property
    def singles(self) -> float:
        """The smaller one of the fewest people alone with exactly these frequencies, and the expected number."""
        return min(self.fewest, self.expected)

    @property
    def exact(self) -> bool:
        """Whether the smallest number with exactly these frequencies is known, not only bounded."""
        return self.fewest == self.at_most

    def to_dict(self) -> dict[str, object]:
        """The figures as plain numbers."""
        return {
            "singles": self.singles,
            "deanonymizable_percent": deanonymizable_percent(self.singles, self.people),
            "with_exact_frequencies": self.fewest,
            "at_most": self.at_most,
            "exact": self.exact,
        }


def best_case(survey: Survey, people: int) -> BestCase:
    """The smallest number of cells with exactly one person in any table with the margins of the survey."""
    margins = margins_in_people(survey, people)
    least = max(sum(count == 1 for count in counts) for counts in margins)
    found = _fewest_in_tables(margins, enough=least)
    cells = math.prod(len(counts) for counts in margins)
    if found > least and cells <= MOST_SOLVED_CELLS and people <= MOST_SOLVED_PEOPLE:
        bound, solved = search_fewest(margins, least=least)
        found = found if solved is None else min(found, solved)
        least = min(bound, found)
    return BestCase(least, found, people)


def _fewest_in_tables(margins: Margins, *, enough: int) -> int:
    """The fewest cells with one person in some tables that are built at random."""
    generator = np.random.default_rng(0)
    trials = TRIALS if sum(len(counts) for counts in margins) <= FEW_CATEGORIES else 2
    fewest = sum(margins[0])
    for trial in range(trials):
        fewest = min(fewest, _cells_in_use(margins, generator if trial else None).count(1))
        if fewest <= enough:
            break
    return fewest


def _cells_in_use(margins: Sequence[Sequence[int]], generator: np.random.Generator | None) -> list[int]:
    """The numbers of people in the cells of a table with these margins; empty cells are left out."""
    left = [np.array(counts) for counts in margins]
    cells = []
    while left[0].any():
        places = [int(np.argmax(block)) if generator is None else _one_of(block, generator) for block in left]
        people = min(int(block[place]) for block, place in zip(left, places, strict=True))
        for block, place in zip(left, places, strict=True):
            block[place] -= people
        cells.append(people)
    return cells


def _one_of(block: np.ndarray[tuple[int], np.dtype[np.int64]], generator: np.random.Generator) -> int:
    return int(generator.choice(np.flatnonzero(block)))
