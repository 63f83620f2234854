"""Estimate and plan a survey from its questionnaire, as `kohorte survey` does; nothing is stored."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kohorte.errors import InputError
from kohorte.progress import Progress
from kohorte.survey import Survey, estimate_survey, merging_forbidden_in, plan_survey
from kohorte.survey.estimators.estimate import Figure, figures_with_worst
from kohorte.survey.estimators.judgements import DEFAULT_JUDGE
from kohorte.survey.estimators.standing import Standing, standing_of
from kohorte.survey.picture import RiskCurves, risk_over_people
from kohorte.survey.planning.trying import Merges, Tried, try_merges

MOST_QUESTIONS, MOST_ANSWERS, MOST_PEOPLE = 40, 400, 10_000_000
SECONDS = 60.0


@dataclass(frozen=True)
class Sketch:
    """What can be told at once: expected people, the fast bound of the worst case, and the curves."""

    people: int
    before: Mapping[str, Any]
    now: Mapping[str, Any]
    standing: Standing
    tried: Tried
    curves: RiskCurves
    merged_curves: RiskCurves | None


def questionnaire(data: object, *, normalize: bool = False) -> Survey:
    """Read a questionnaire of limited size."""
    survey = Survey.from_dict(data, normalize=normalize)
    answers = sum(len(question.categories) for question in survey.questions.values())
    if len(survey.questions) > MOST_QUESTIONS or answers > MOST_ANSWERS:
        raise InputError(
            f"the service plans surveys with at most {MOST_QUESTIONS} questions and {MOST_ANSWERS} answers; "
            "the command has no such limit",
            code="survey-too-large",
        )
    return survey


def asked(survey: Survey, people: int | None) -> int:
    """Return the number of people, which is limited here."""
    number = survey.asked(people)
    if number > MOST_PEOPLE:
        raise InputError(f"the service plans surveys of at most {MOST_PEOPLE:,} people", code="survey-too-large")
    return number


def estimate(
    survey: Survey, people: int | None, *, by: str = DEFAULT_JUDGE, merges: Merges | None = None
) -> dict[str, Any]:
    """Return what `kohorte survey estimate --json` prints; with merges, that of the merged survey, and the loss."""
    number = asked(survey, people)
    if not merges:
        return dict(estimate_survey(survey, number, by=by).to_dict())
    tried = try_merges(survey, merges, number)
    return {**estimate_survey(tried.survey, number, by=by).to_dict(), **tried.to_dict()}


def plan(survey: Survey, people: int | None, *, percent: float, by: str = DEFAULT_JUDGE) -> dict[str, Any]:
    """Return what `kohorte survey plan --json` prints; a search that takes too long is refused."""
    wanted: dict[str, Any] = {"percent": percent, "people": asked(survey, people), "by": by}
    proposals = plan_survey(survey, **wanted, progress=_Patience(SECONDS))
    return {
        **wanted,
        "scaled": dict(survey.scaled),
        "merging_forbidden_in": list(merging_forbidden_in(survey, proposals, **wanted)),
        "proposals": [proposal.to_dict() for proposal in proposals],
    }


def curves(survey: Survey, people: int | None) -> dict[str, Any]:
    """Return the percentages by each judgement for numbers of people up to three times as many."""
    found = risk_over_people(survey, [asked(survey, people)])
    return {"people": list(found.people), "percents": {by: list(values) for by, values in found.percents.items()}}


def sketch(survey: Survey, people: int | None, merges: Merges) -> Sketch:
    """Return what can be told within a moment; the worst case is a bound, which is never below it."""
    number = asked(survey, people)
    tried = try_merges(survey, merges, number)
    now = _percents(tried.survey, number)
    return Sketch(
        people=number,
        before=_percents(survey, number),
        now=now,
        standing=standing_of(now["expected_percent"], now["worst_percent"]),
        tried=tried,
        curves=risk_over_people(survey, [number]),
        merged_curves=None if tried.survey is survey else risk_over_people(tried.survey, [number]),
    )


def _percents(survey: Survey, people: int) -> dict[str, Any]:
    figures = figures_with_worst(survey, people)
    expected, worst = figures["expected"], figures["worst"]
    assert isinstance(expected, Figure)
    assert isinstance(worst, Figure)
    return {
        "cells": survey.cells,
        "expected": expected.singles,
        "expected_percent": expected.deanonymizable_percent,
        "worst": worst.singles,
        "worst_percent": worst.deanonymizable_percent,
    }


class _Patience:
    """Lets a search go on for some seconds."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def __call__(self, progress: Progress) -> None:
        """Refuse to go on after that."""
        del progress
        if time.monotonic() > self._until:
            raise InputError(
                f"no plan was found within {SECONDS:g} seconds; forbid merging in more questions, or use the command",
                code="survey-too-slow",
            )
