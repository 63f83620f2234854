"""The percentage of people who would be alone with their answers, as a function of the number of people.

Source of the curves of FG, RT, RR and OR and of the worst case: Rauterberg, "Wie anonym sind anonymisierte Datensätze
wirklich?", figures 2, 4 and 6. The expectation is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kohorte.survey.estimators.estimate import figures_with_worst
from kohorte.survey.estimators.judgements import JUDGES
from kohorte.survey.questionnaire.survey import Survey, survey_of, whole_people_asked

POINTS = 30
AS_FAR_AS = 3
"""The curves end at three times the number of people of the survey."""


@dataclass(frozen=True)
class RiskCurves:
    """One curve for each judgement: the percentage at each number of people.

    A curve is left out if one of its points could not be computed (RT and RR, for very many people). `worst` is the
    bound that no table with exactly these frequencies exceeds, or the expectation where it is larger.
    """

    survey: Survey
    people: tuple[int, ...]
    percents: Mapping[str, tuple[float, ...]]


def risk_over_people(survey: Survey, people: Sequence[int] | None = None) -> RiskCurves:
    """The curves at some numbers of people; by default up to three times as many as the survey asks."""
    given = [survey_of(survey).asked()] if people is None else [whole_people_asked(number) for number in people]
    numbers = tuple(sorted(set(given))) if len(given) > 1 else _evenly(given[0])
    figures = [figures_with_worst(survey, number) for number in numbers]
    curves = {by: [at[by] for at in figures] for by in JUDGES}
    return RiskCurves(
        survey,
        numbers,
        {
            by: tuple(figure.deanonymizable_percent for figure in found if figure is not None)
            for by, found in curves.items()
            if None not in found
        },
    )


def _evenly(people: int) -> tuple[int, ...]:
    """Numbers of people up to a multiple of this one, which is among them."""
    steps = (round(people * AS_FAR_AS * step / POINTS) for step in range(1, POINTS + 1))
    return tuple(sorted({people, *(max(1, number) for number in steps)}))
