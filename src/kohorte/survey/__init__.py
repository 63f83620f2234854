"""Survey planning: estimate, before a survey takes place, how many people could be recognized by their answers."""

from kohorte.survey.estimators.estimate import Coefficient, Figure, SurveyEstimate, estimate_survey
from kohorte.survey.estimators.judgements import JUDGES
from kohorte.survey.planning.forbidden import merging_forbidden_in
from kohorte.survey.planning.planner import plan_survey
from kohorte.survey.planning.proposal import SurveyProposal
from kohorte.survey.questionnaire.parts import JointTable, Question
from kohorte.survey.questionnaire.survey import Survey

__all__ = [
    "JUDGES",
    "Coefficient",
    "Figure",
    "JointTable",
    "Question",
    "Survey",
    "SurveyEstimate",
    "SurveyProposal",
    "estimate_survey",
    "merging_forbidden_in",
    "plan_survey",
]
