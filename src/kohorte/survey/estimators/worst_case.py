"""The worst case: the largest number of cells with exactly one person in any table with the expected margins.

The margins are those of the survey in whole people: `people` times each frequency, rounded by the largest remainders.
Questions with a joint table have their joint counts.

**An upper bound, with its proof.** Let a question have a category of c people, and let K be the number of combinations
of answers to all other questions (only those that occur). If c <= K, at most c cells of this category have one
person. If c > K, at most K - 1 have: if all K had one person, the category would have K people and not c. Call this the
room of the category. For any two questions, the cells with one person, seen as a graph between their categories, are a
flow that is bounded by the rooms on both sides, and between two categories by the number of combinations of answers to
the other questions. The largest flow is the smallest cut. As all middle edges have equal capacity, the best cut with i
categories on one side and j on the other takes the largest rooms, and for each i the best j are those with more room
than the capacity of the edges from i. Finally, exactly N - 1 cells with one person are impossible: the last person
would be alone, too, or with one of them.

**A lower bound** is a table that was constructed (tables.py). If both agree, the answer is exact; if not and there are
at most `MOST_SOLVED_CELLS` cells, an integer program is solved, up to a fixed number of steps (integer_program.py), and
what it has proven until then is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from kohorte.survey.estimators.integer_program import room, search
from kohorte.survey.estimators.published import deanonymizable_percent
from kohorte.survey.estimators.tables import singles_of_a_table
from kohorte.survey.questionnaire.frequencies import whole_people
from kohorte.survey.questionnaire.survey import Answers, Survey

Margins = tuple[tuple[int, ...], ...]

MOST_SOLVED_CELLS = 200
MOST_SOLVED_PEOPLE = 100_000
"""Above this, the numbers in the program differ too much in size for a solver in floating-point numbers."""


@dataclass(frozen=True)
class WorstCase:
    """No table with the expected margins has more than `most` cells with one person; some table has `at_least`.

    `exact` says whether both are equal. By chance, answers are more or less frequent than expected, so that the
    `expected` number can exceed `most`: a single question with 5 and 5 people leaves nobody alone, ten people who
    answer at random sometimes do. The worst case that people read, `singles`, is never below the expectation.
    """

    most: int
    at_least: int
    people: int
    expected: float = 0.0

    @property
    def singles(self) -> float:
        """The larger one of the most people alone with exactly these frequencies, and the expected number."""
        return max(self.most, self.expected)

    @property
    def exact(self) -> bool:
        """Whether the largest number with exactly these frequencies is known, not only bounded."""
        return self.most == self.at_least

    def to_dict(self) -> dict[str, object]:
        """The figures as plain numbers."""
        return {
            "singles": self.singles,
            "deanonymizable_percent": deanonymizable_percent(self.singles, self.people),
            "with_exact_frequencies": self.most,
            "at_least": self.at_least,
            "exact": self.exact,
        }


def worst_case(survey: Survey, people: int) -> WorstCase:
    """The largest number of cells with exactly one person in any table with the margins of the survey."""
    margins = margins_in_people(survey, people)
    most = upper_bound(margins)
    found = singles_of_a_table(margins, enough=most)
    cells = math.prod(len(counts) for counts in margins)
    if found < most and cells <= MOST_SOLVED_CELLS and people <= MOST_SOLVED_PEOPLE:
        bound, solved = search(margins, most=most)
        found = max(found, solved)
        most = max(bound, found)
    return WorstCase(most, found, people)


def worst_case_bound(survey: Answers, people: int) -> int:
    """An upper bound for the number of cells with one person in a table with the margins of the survey, fast."""
    return upper_bound(margins_in_people(survey, people))


def margins_in_people(survey: Answers, people: int) -> Margins:
    """The number of people who give each answer, question by question, without answers that nobody gives."""
    counts = (whole_people(people, block.probabilities) for block in survey.blocks)
    return tuple(tuple(count for count in block if count) for block in counts)


def upper_bound(margins: Margins) -> int:
    """An upper bound for the number of cells with one person in a table with these margins."""
    people = sum(margins[0])
    cells = math.prod(len(counts) for counts in margins)
    rooms = [[room(count, cells // len(counts)) for count in counts] for counts in margins]
    most = min(people, *(sum(room) for room in rooms))
    for one, other in itertools.combinations(rooms, 2):
        most = min(most, _largest_flow(one, other, cells // (len(one) * len(other))))
    return most - 1 if most == people - 1 else most


def _largest_flow(one: Sequence[int], other: Sequence[int], between: int) -> int:
    """The largest flow from categories of one question to those of another, by the smallest cut."""
    left, right = sorted(one, reverse=True), sorted(other, reverse=True)
    from_left, from_right = ([0, *itertools.accumulate(rooms)] for rooms in (left, right))
    smallest, j = from_left[-1] + from_right[-1], len(right)
    for i, taken in enumerate(from_left):
        while j and right[j - 1] <= between * i:  # with more categories on the left, fewer are worthwhile on the right
            j -= 1
        smallest = min(smallest, from_left[-1] - taken + from_right[-1] - from_right[j] + between * i * j)
    return smallest
