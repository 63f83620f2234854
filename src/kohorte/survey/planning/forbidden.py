"""Say whether a plan merges no categories because questions forbid it."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.survey.planning.judging import reaches
from kohorte.survey.planning.merging import merged_survey
from kohorte.survey.planning.planner import singles_by
from kohorte.survey.planning.proposal import SurveyProposal
from kohorte.survey.questionnaire.survey import Survey


def merging_forbidden_in(
    survey: Survey, proposals: Sequence[SurveyProposal], *, percent: float, people: int, by: str
) -> tuple[str, ...]:
    """The questions that forbid merging, if that is why none of these proposals keeps the number of people; else none.

    Without them the planner would always consider to merge all categories of all questions. So they are the reason if
    that would reach the percentage.
    """
    forbidding = tuple(name for name, question in survey.questions.items() if question.forbids_merging)
    if not forbidding or any(not proposal.more_people for proposal in proposals):
        return ()
    sizes = {name: len(question.categories) for name, question in survey.questions.items()}
    nothing = merged_survey(survey, {name: (tuple(range(size)),) for name, size in sizes.items()}, people)
    return forbidding if reaches(singles_by(by, nothing, people), people, percent) else ()
