"""Survey planning: how many people could be recognized by their answers, before anybody was asked."""

from kohorte.survey.estimate import Figure, SurveyEstimate, estimate_survey
from kohorte.survey.parts import JointTable, Question
from kohorte.survey.planner import JUDGES, plan_survey
from kohorte.survey.proposal import SurveyProposal
from kohorte.survey.survey import Survey

__all__ = [
    "JUDGES",
    "Figure",
    "JointTable",
    "Question",
    "Survey",
    "SurveyEstimate",
    "SurveyProposal",
    "estimate_survey",
    "plan_survey",
]
