"""All figures about a planned survey."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kohorte.errors import InputError
from kohorte.survey.estimators.expectation import expected_singles
from kohorte.survey.estimators.published import (
    deanonymizable_percent,
    degrees_of_freedom,
    orwell_coefficient,
    rounded_margins,
    truncated_margins,
)
from kohorte.survey.estimators.simulation import Simulation, simulate
from kohorte.survey.estimators.worst_case import WorstCase, worst_case
from kohorte.survey.questionnaire.survey import Survey, survey_of

FEW, MANY = 1.0, 10.0
"""Percentages: the verdict says "few" up to the first, and "many" from the second on."""


@dataclass(frozen=True)
class Figure:
    """A number of cells with one person, and the corresponding percentage of the people.

    `error` bounds the difference between the computed and the true number.
    """

    singles: float
    people: int
    error: float = 0.0

    @property
    def deanonymizable_percent(self) -> float:
        """DA = min(singles / people, 1) * 100."""
        return deanonymizable_percent(self.singles, self.people)

    def to_dict(self) -> dict[str, object]:
        """The figure as plain numbers."""
        found: dict[str, object] = {
            "singles": self.singles,
            "deanonymizable_percent": self.deanonymizable_percent,
        }
        return found | ({"error": self.error} if self.error else {})


@dataclass(frozen=True)
class SurveyEstimate:
    """The estimates for a survey with a number of people.

    `FG`, `RT`, `RR` and `OR` are the published estimators, `expected` is the exact expectation if the answers follow
    the frequencies. RT and RR are None if too many cells would have to be listed, `simulation` if too many people would
    have to be drawn, or if it was not requested. The worst case is computed when it is first read.
    """

    survey: Survey
    people: int
    FG: Figure
    RT: Figure | None
    RR: Figure | None
    OR: Figure
    expected: Figure
    simulation: Simulation | None

    @cached_property
    def worst_case(self) -> WorstCase:
        """The largest number of cells with one person in any table with these frequencies."""
        return worst_case(self.survey, self.people)

    @property
    def cells(self) -> int:
        """The number of combinations of answers."""
        return self.survey.cells

    @property
    def figures(self) -> dict[str, Figure | None]:
        """The estimators and the expectation, by name."""
        return {"FG": self.FG, "RT": self.RT, "RR": self.RR, "OR": self.OR, "expected": self.expected}

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        percent = self.expected.deanonymizable_percent
        if percent <= FEW:
            if self.worst_case.singles / self.people * 100 <= FEW:
                return "Few people would be alone with their answers, even in the worst case."
            return "Few people would be alone with their answers, if they answer as expected; at worst, more."
        amount = "Many" if percent >= MANY else "Some"
        return f"{amount} people would be alone with their answers: {counted(self.expected.singles, self.people)}."

    def to_dict(self) -> dict[str, object]:
        """The figures as plain dictionaries, lists, numbers and text."""
        return {
            "cells": self.cells,
            "people": self.people,
            "scaled": dict(self.survey.scaled),
            **figures_to_dict(self.figures),
            "simulation": None if self.simulation is None else self.simulation.to_dict(),
            "worst_case": self.worst_case.to_dict(),
            "verdict": self.verdict,
        }


def estimate_survey(
    survey: Survey, people: int | None = None, *, simulation: bool = True, seed: int = 0
) -> SurveyEstimate:
    """Estimate how many people of a planned survey would be the only ones with their answers."""
    people = survey_of(survey).asked(people)
    return SurveyEstimate(
        survey=survey,
        people=people,
        **figures_of(survey, people),  # type: ignore[arg-type]  # only RT and RR can be None
        simulation=simulate(survey, people, seed=seed) if simulation else None,
    )


def _listed(estimator: Callable[[Survey, int], int], survey: Survey, people: int) -> Figure | None:
    """The figure of an estimator that lists cells; None if there are too many cells."""
    try:
        return Figure(estimator(survey, people), people)
    except InputError:
        return None


def figures_of(survey: Survey, people: int) -> dict[str, Figure | None]:
    """The figures of the estimators, and the expectation."""
    expectation = expected_singles(survey, people)
    return {
        "FG": Figure(degrees_of_freedom(survey, people), people),
        "RT": _listed(truncated_margins, survey, people),
        "RR": _listed(rounded_margins, survey, people),
        "OR": Figure(orwell_coefficient(survey, people), people),
        "expected": Figure(expectation.singles, people, expectation.error),
    }


def figures_to_dict(figures: Mapping[str, Figure | None]) -> dict[str, object]:
    """Figures as plain numbers; null if a figure is unknown."""
    unknown = {"singles": None, "deanonymizable_percent": None}
    return {name: unknown if figure is None else figure.to_dict() for name, figure in figures.items()}


def counted(singles: float, people: int) -> str:
    """A number of people in words, such as "about 34 of 200"."""
    whole = math.floor(singles + 0.5)
    if people == 1:
        return "the only person asked"
    return f"nearly all of {people:,}" if whole >= people else f"about {whole:,} of {people:,}"
