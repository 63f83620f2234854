"""The risk of a dataset once it is anonymized as a config says."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.jobs.queue import State, job_to_dict
from kohorte.service.projects.risk import begin_risk
from kohorte.service.web.answers import JobAnswer
from kohorte.service.web.dependencies import ActorDep, Number, ServiceDep
from kohorte.service.web.errors import answer
from kohorte.service.web.routes.project_bodies import RiskConfig
from kohorte.service.web.synchronous import Prefer, is_small, job_in_time, location_of_job

router = APIRouter(tags=["risk"])


class Generalization(BaseModel):
    """How vague an attribute became."""

    attribute_name: str
    generalization_level: int


class RiskAnswer(BaseModel):
    """The risk that is left, in the measures of PRIORI."""

    attribute_generalization: list[Generalization]
    risk_profile: dict[str, Any]


class WeightedRiskAnswer(BaseModel):
    """The measures weighted as the service's policy says."""

    risk: float = Field(examples=[0.19393939393939394])
    limit: float | None
    within_limit: bool | None
    parts: list[dict[str, Any]]


class AssessedLater(BaseModel):
    """The job in which the risk is being assessed; its result is the answer."""

    job: JobAnswer


LATER: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "The risk is being assessed; the result will be in the job",
        "model": AssessedLater,
        "headers": {"Location": {"description": "Where the job is.", "schema": {"type": "string"}}},
    }
}


@router.post(
    "/datasets/{dataset_id}/analyze-risk", summary="Assess the risk", response_model=RiskAnswer, responses=LATER
)
async def analyze_risk(
    dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep, prefer: Prefer = None
) -> JSONResponse:
    """Anonymize a dataset and say how likely people are found in the result; the result itself is not kept."""
    return await _assessed(service, actor, dataset_id, body, prefer=prefer, parts=tuple(RiskAnswer.model_fields))


@router.post(
    "/datasets/{dataset_id}/calculate-weighted-risk",
    summary="Weigh the risk",
    response_model=WeightedRiskAnswer,
    responses=LATER,
)
async def calculate_weighted_risk(
    dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep, prefer: Prefer = None
) -> JSONResponse:
    """Weigh the measures of the risk as the policy of the service says."""
    return await _assessed(service, actor, dataset_id, body, prefer=prefer, parts=())


async def _assessed(
    service: Service,
    actor: Actor,
    dataset_id: int,
    body: RiskConfig,
    *,
    prefer: str | None,
    parts: tuple[str, ...],
) -> JSONResponse:
    """Answer with parts of the result, or with the weighted risk where none are named."""
    job_id, rows = await run_in_threadpool(begin_risk, service, actor, dataset_id, body.plain())
    row = await job_in_time(service, job_id, small=is_small(service, rows), prefer=prefer)
    if row.state in (State.FAILED, State.CANCELLED):
        return answer(row.problem)
    if row.state != State.DONE:
        return JSONResponse({"job": job_to_dict(row)}, 202, location_of_job(job_id))
    shown = {part: row.result[part] for part in parts} if parts else row.result["weighted_risk"]
    return JSONResponse(shown)
