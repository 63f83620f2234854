"""All figures about a planned survey together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kohorte.errors import InputError
from kohorte.survey.estimators import (
    deanonymizable_percent,
    degrees_of_freedom,
    orwell_coefficient,
    rounded_margins,
    truncated_margins,
)
from kohorte.survey.expectation import expected_singles
from kohorte.survey.simulation import Simulation, simulate
from kohorte.survey.survey import Survey, survey_of
from kohorte.survey.worst_case import WorstCase, worst_case

FEW, MANY = 1.0, 10.0
"""Percentages: up to the first a verdict speaks of few people, from the second of many."""


@dataclass(frozen=True)
class Figure:
    """A number of cells with one person, and the percentage of the people that it stands for.

    `error` bounds how far a computed number is from the true one.
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
    """What is to be expected of a survey with so many people.

    `FG`, `RT`, `RR` and `OR` are the published estimators, `expected` is the exact expectation if people answer as the
    frequencies say. RT and RR are None where too many cells would have to be listed, `simulation` where too many people
    would have to be drawn, or nobody asked for it. The worst case is searched when it is asked for.
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
        """The largest number of cells with one person that any table with these frequencies has."""
        return worst_case(self.survey, self.people)

    @property
    def cells(self) -> int:
        """How many combinations of answers there are."""
        return self.survey.cells

    @property
    def figures(self) -> dict[str, Figure | None]:
        """The estimators and the expectation, by name."""
        return {"FG": self.FG, "RT": self.RT, "RR": self.RR, "OR": self.OR, "expected": self.expected}

    @property
    def verdict(self) -> str:
        """What to think of it, in one sentence."""
        percent = self.expected.deanonymizable_percent
        if percent <= FEW:
            if self.worst_case.singles / self.people * 100 <= FEW:
                return "Few people would be alone with their answers, even in the worst case."
            return "Few people would be alone with their answers, if they answer as expected; at worst more could be."
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
    """Estimate how many people of a planned survey could be recognized by being the only one with their answers."""
    people = survey_of(survey).asked(people)
    return SurveyEstimate(
        survey=survey,
        people=people,
        **figures_of(survey, people),  # type: ignore[arg-type]  # only RT and RR can be None
        simulation=simulate(survey, people, seed=seed) if simulation else None,
    )


def _listed(estimator: Callable[[Survey, int], int], survey: Survey, people: int) -> Figure | None:
    """The figure of an estimator that lists cells; None for too many cells, as the others are still of use."""
    try:
        return Figure(estimator(survey, people), people)
    except InputError:
        return None


def figures_of(survey: Survey, people: int) -> dict[str, Figure | None]:
    """What the estimators say of a survey, and the expectation."""
    expectation = expected_singles(survey, people)
    return {
        "FG": Figure(degrees_of_freedom(survey, people), people),
        "RT": _listed(truncated_margins, survey, people),
        "RR": _listed(rounded_margins, survey, people),
        "OR": Figure(orwell_coefficient(survey, people), people),
        "expected": Figure(expectation.singles, people, expectation.error),
    }


def figures_to_dict(figures: Mapping[str, Figure | None]) -> dict[str, object]:
    """Figures as plain numbers; null where nothing is known."""
    unknown = {"singles": None, "deanonymizable_percent": None}
    return {name: unknown if figure is None else figure.to_dict() for name, figure in figures.items()}


def counted(singles: float, people: int) -> str:
    """So many of all people, as people say it."""
    whole = math.floor(singles + 0.5)
    if people == 1:
        return "the only one who is asked"
    return f"nearly all of {people:,}" if whole >= people else f"about {whole:,} of {people:,}"
