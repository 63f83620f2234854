"""Planned surveys: what `kohorte survey` answers, for a questionnaire in the body; nothing is stored."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from kohorte.service.surveys import planning
from kohorte.service.web.execution.table_work import run_survey
from kohorte.service.web.models.surveys import SurveyBody, SurveyCurves, SurveyEstimateBody, SurveyPlanBody

router = APIRouter(tags=["surveys"])


@router.post("/surveys/estimate", summary="Estimate a survey")
async def estimate_survey(body: SurveyEstimateBody) -> dict[str, Any]:
    """Estimate how many people would be alone with their answers; with `merges`, also what they lose."""

    def estimated() -> dict[str, Any]:
        survey = planning.questionnaire(body.survey, normalize=body.normalize)
        return planning.estimate(survey, body.people, by=body.by, merges=body.merges)

    return await run_survey(estimated)


@router.post("/surveys/plan", summary="Plan a survey")
async def plan_survey(body: SurveyPlanBody) -> dict[str, Any]:
    """Propose merges of answers, or more people, that reach a percentage."""

    def planned() -> dict[str, Any]:
        survey = planning.questionnaire(body.survey, normalize=body.normalize)
        return planning.plan(survey, body.people, percent=body.percent, by=body.by)

    return await run_survey(planned)


@router.post("/surveys/curves", summary="Show the risk over the number of people")
async def show_survey_curves(body: SurveyBody) -> SurveyCurves:
    """Return the percentages by each judgement, up to three times as many people."""

    def drawn() -> dict[str, Any]:
        return planning.curves(planning.questionnaire(body.survey, normalize=body.normalize), body.people)

    return SurveyCurves(**await run_survey(drawn))
