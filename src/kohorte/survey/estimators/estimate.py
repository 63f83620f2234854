"""All figures about a planned survey."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from kohorte.errors import InputError
from kohorte.in_words import percent as in_percent
from kohorte.survey.estimators.best_case import BestCase, best_case
from kohorte.survey.estimators.expectation import expected_singles
from kohorte.survey.estimators.judgements import DEFAULT_JUDGE, is_coefficient, judge_in_words, refuse_unknown_judge
from kohorte.survey.estimators.published import (
    ESTIMATORS,
    deanonymizable_percent,
    degrees_of_freedom,
    orwell_coefficient,
    rounded_margins,
    truncated_margins,
)
from kohorte.survey.estimators.simulation import Simulation, simulate
from kohorte.survey.estimators.standing import FEW, MANY
from kohorte.survey.estimators.worst_case import WorstCase, worst_case, worst_case_bound
from kohorte.survey.questionnaire.survey import Survey, survey_of


@dataclass(frozen=True)
class Figure:
    """A number of people who are alone with their answers, never more than there are, and their percentage.

    `error` bounds the difference between the computed and the true number.
    """

    singles: float
    people: int
    error: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "singles", min(self.singles, self.people))  # a sum can be rounded up

    @property
    def deanonymizable_percent(self) -> float:
        """The percentage of the people."""
        return deanonymizable_percent(self.singles, self.people)

    def to_dict(self) -> dict[str, object]:
        """The figure as plain numbers."""
        found: dict[str, object] = {
            "singles": self.singles,
            "deanonymizable_percent": self.deanonymizable_percent,
        }
        return found | ({"error": self.error} if self.error else {})


@dataclass(frozen=True)
class Coefficient:
    """A published coefficient. It counts combinations of answers, not people, and can exceed the number of people."""

    value: float
    people: int

    @property
    def deanonymizable_percent(self) -> float:
        """DA = min(coefficient / people, 1) * 100, as published; it is not a probability."""
        return deanonymizable_percent(self.value, self.people)

    def to_dict(self) -> dict[str, object]:
        """The coefficient as plain numbers."""
        return {"coefficient": self.value, "deanonymizable_percent": self.deanonymizable_percent}


Shown = Figure | Coefficient


@dataclass(frozen=True)
class SurveyEstimate:
    """The estimates for a survey with a number of people, judged `by` one of them.

    `FG`, `RT`, `RR` and `OR` are the published coefficients, `expected` is the exact expectation if the answers follow
    the frequencies. RT and RR are None if too many cells would have to be listed, `simulation` if too many people would
    have to be drawn, or if it was not requested. The worst and the best case are computed when they are first read.
    """

    survey: Survey
    people: int
    FG: Coefficient
    RT: Coefficient | None
    RR: Coefficient | None
    OR: Coefficient
    expected: Figure
    simulation: Simulation | None
    by: str = DEFAULT_JUDGE

    @cached_property
    def worst_case(self) -> WorstCase:
        """The most people alone in any table with these frequencies; never below the expectation."""
        return replace(worst_case(self.survey, self.people), expected=self.expected.singles)

    @cached_property
    def best_case(self) -> BestCase:
        """The fewest people alone in any table with these frequencies; never above the expectation."""
        return replace(best_case(self.survey, self.people), expected=self.expected.singles)

    @property
    def cells(self) -> int:
        """The number of combinations of answers."""
        return self.survey.cells

    @property
    def figures(self) -> dict[str, Shown | None]:
        """The coefficients and the expectation, by name."""
        return {"FG": self.FG, "RT": self.RT, "RR": self.RR, "OR": self.OR, "expected": self.expected}

    @property
    def judged_percent(self) -> float:
        """The percentage by the chosen judgement."""
        if self.by == "worst":
            return deanonymizable_percent(self.worst_case.singles, self.people)
        figure = self.figures[self.by]
        assert figure is not None  # `estimate_survey` refuses to judge by what it cannot compute
        return figure.deanonymizable_percent

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        percent = self.judged_percent
        if is_coefficient(self.by):
            shown = in_percent(percent / 100)
            return f"Judged by {judge_in_words(self.by)}, which is not a number of people: DA = {shown}."
        amount = "Few" if percent <= FEW else "Many" if percent >= MANY else "Some"
        if self.by == "worst":
            worst = self.worst_case
            chance = counted(worst.expected, self.people)
            many = f"up to {worst.most:,} of {self.people:,}" if worst.most >= worst.expected else chance
            return f"{amount} people could be alone with their answers at worst: {many}."
        if amount == "Few":
            if self.worst_case.singles / self.people * 100 <= FEW:
                return "Few people would be alone with their answers, even in the worst case."
            return "Few people would be alone with their answers, if they answer as expected; at worst, more."
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
            "best_case": self.best_case.to_dict(),
            "by": self.by,
            "verdict": self.verdict,
        }


def estimate_survey(
    survey: Survey, people: int | None = None, *, by: str = DEFAULT_JUDGE, simulation: bool = True, seed: int = 0
) -> SurveyEstimate:
    """Estimate how many people of a planned survey would be the only ones with their answers.

    `by` is the figure that the verdict judges by: expected, worst, or a published coefficient (OR, FG, RT, RR).
    """
    refuse_unknown_judge(by)
    people = survey_of(survey).asked(people)
    figures = figures_of(survey, people)
    if is_coefficient(by) and figures[by] is None:
        ESTIMATORS[by](survey, people)  # refuses, and says why
    return SurveyEstimate(
        survey=survey,
        people=people,
        **figures,  # type: ignore[arg-type]  # only RT and RR can be None
        simulation=simulate(survey, people, seed=seed) if simulation else None,
        by=by,
    )


def _listed(estimator: Callable[[Survey, int], int], survey: Survey, people: int) -> Coefficient | None:
    """The coefficient of an estimator that lists cells; None if there are too many cells."""
    try:
        return Coefficient(estimator(survey, people), people)
    except InputError:
        return None


def figures_of(survey: Survey, people: int) -> dict[str, Shown | None]:
    """The published coefficients, and the expectation."""
    expectation = expected_singles(survey, people)
    return {
        "FG": Coefficient(degrees_of_freedom(survey, people), people),
        "RT": _listed(truncated_margins, survey, people),
        "RR": _listed(rounded_margins, survey, people),
        "OR": Coefficient(orwell_coefficient(survey, people), people),
        "expected": Figure(expectation.singles, people, expectation.error),
    }


def figures_with_worst(survey: Survey, people: int) -> dict[str, Shown | None]:
    """The coefficients, the expectation, and the fast bound of the worst case, which is never below the expectation."""
    figures = figures_of(survey, people)
    expected = figures["expected"]
    assert isinstance(expected, Figure)
    return figures | {"worst": Figure(max(worst_case_bound(survey, people), expected.singles), people)}


def figures_to_dict(figures: Mapping[str, Shown | None]) -> dict[str, object]:
    """Figures as plain numbers; only RT and RR can be unknown, which is null."""
    unknown = {"coefficient": None, "deanonymizable_percent": None}
    return {name: unknown if figure is None else figure.to_dict() for name, figure in figures.items()}


def counted(singles: float, people: int) -> str:
    """A number of people in words, such as "about 34 of 200"."""
    whole = math.floor(singles + 0.5)
    if people == 1:
        return "the only person asked"
    if not whole:
        return f"fewer than one of {people:,} on average"
    return f"nearly all of {people:,}" if whole >= people else f"about {whole:,} of {people:,}"
