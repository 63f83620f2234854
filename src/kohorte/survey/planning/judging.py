"""Decide whether a survey with merged categories, or more people, reaches a wanted percentage."""

from __future__ import annotations

from kohorte.survey.estimators.expectation import expected_singles
from kohorte.survey.estimators.logarithms import FEWEST_PEOPLE, LogarithmGrid
from kohorte.survey.estimators.worst_case import worst_case_bound
from kohorte.survey.questionnaire.survey import Answers

GRIDS = (2**12, 2**15, 2**18)
MOST_EXACT = 2_000_000
ROUNDING = 1e-9


def reaches(singles: float, people: int, percent: float) -> bool:
    """Whether this number of single cells is at most the wanted percentage of the people."""
    return min(singles / people, 1.0) * 100 <= percent + ROUNDING


class ExpectedPercentage:
    """Compares the expected percentage with a wanted one, with increasingly fine grids and, if necessary, exactly.

    Above two million people, a survey that the finest grid cannot decide counts as not reaching the percentage.
    """

    def __init__(self, survey: Answers) -> None:
        self._blocks = survey.blocks
        self._grids: dict[int, LogarithmGrid] = {}

    def reaches(self, survey: Answers, people: int, percent: float) -> bool:
        """Whether the expected percentage is at most the wanted one, for a survey with merged categories."""
        for points in GRIDS if people >= FEWEST_PEOPLE else ():
            alone, error = self._grid(points).alone(survey.blocks, people)
            if (alone + error) * 100 <= percent:
                return True
            if (alone - error) * 100 > percent + ROUNDING:
                return False
        return people <= MOST_EXACT and reaches(expected_singles(survey, people).singles, people, percent)

    def _grid(self, points: int) -> LogarithmGrid:
        if points not in self._grids:
            self._grids[points] = LogarithmGrid(self._blocks, points)
        return self._grids[points]


class WorstPercentage(ExpectedPercentage):
    """Compares the worst case with a wanted percentage: first its bound, which is fast, then the expectation."""

    def reaches(self, survey: Answers, people: int, percent: float) -> bool:
        """Whether neither the bound of the worst case nor the expectation exceeds the wanted percentage."""
        return reaches(worst_case_bound(survey, people), people, percent) and super().reaches(survey, people, percent)


def percentage_by(by: str, survey: Answers) -> ExpectedPercentage | None:
    """What compares the percentage of a number of people; None if the judgement is a published coefficient."""
    return {"expected": ExpectedPercentage, "worst": WorstPercentage}.get(by, lambda _: None)(survey)
