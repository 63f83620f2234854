"""Survey planning: estimate, before a survey takes place, how many people could be recognized by their answers."""

from kohorte.survey.estimators.estimate import Figure, SurveyEstimate, estimate_survey
from kohorte.survey.planning.planner import JUDGES, plan_survey
from kohorte.survey.planning.proposal import SurveyProposal
from kohorte.survey.questionnaire.parts import JointTable, Question
from kohorte.survey.questionnaire.survey import Survey

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
