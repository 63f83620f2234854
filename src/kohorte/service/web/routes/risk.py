"""The risk of a dataset after anonymization with a config."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.jobs.listing import problem_for_actor
from kohorte.service.jobs.queue import State, job_to_dict
from kohorte.service.previews import evaluation, settings_tried
from kohorte.service.projects.risk import begin_risk
from kohorte.service.web.dependencies import ActorDep, Number, ServiceDep
from kohorte.service.web.errors import answer
from kohorte.service.web.execution.synchronous import Prefer, is_small, job_in_time, location_of_job
from kohorte.service.web.execution.table_work import run_preview
from kohorte.service.web.models.datasets import Preview
from kohorte.service.web.models.projects import RiskConfig
from kohorte.service.web.models.responses import JobAnswer

router = APIRouter(tags=["risk"])


class Generalization(BaseModel):
    """The level to which an attribute was generalized."""

    attribute_name: str
    generalization_level: int


class RiskAnswer(BaseModel):
    """The remaining risk, in the measures of PRIORI; `unit` says whether they count rows or people."""

    attribute_generalization: list[Generalization]
    risk_profile: dict[str, Any]
    unit: str = Field(examples=["rows"])
    people: int | None


class WeightedRiskAnswer(BaseModel):
    """The measures, weighted by the policy of the service."""

    risk: float = Field(examples=[0.19393939393939394])
    limit: float | None
    within_limit: bool | None
    parts: list[dict[str, Any]]
    unit: str = Field(examples=["rows"])


class EvaluationAnswer(BaseModel):
    """What a config would release; costs are those of its metric."""

    plan_sha256: str = Field(description="The hash of the plan; a certificate of a release with it has the same.")
    cost: float
    metric: str
    optimal: bool = Field(description="False if the search was stopped after some seconds, or is a heuristic.")
    levels: dict[str, int]
    levels_in_words: dict[str, str]
    rows: int
    people: int | None
    unit: str = Field(examples=["rows"], description="What classes and risks count.")
    suppressed: int = Field(description="Rows whose quasi-identifiers would be suppressed.")
    classes: int
    smallest_class: int
    highest_risk: float = Field(description="The chance that a person in the smallest class is found.")
    lost_values: dict[str, int] = Field(description="How many values of a column would no longer occur.")
    verdict: dict[str, Any]
    sample: Preview = Field(description="The first rows of the release.")
    seconds: float


class AssessedLater(BaseModel):
    """The job that assesses the risk; it will contain the result."""

    job: JobAnswer


LATER: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "The risk is being assessed; the result will be in the job",
        "model": AssessedLater,
        "headers": {"Location": {"description": "The URL of the job.", "schema": {"type": "string"}}},
    }
}


class TradeoffAnswer(BaseModel):
    """What other settings of a config would cost; `noise` is null if queries are not installed."""

    rows: int
    unit: str = Field(examples=["rows"])
    people: int | None
    metric: str
    algorithm: str
    curves: list[dict[str, Any]] = Field(description="One over `k`, one over `suppression_limit`.")
    noise: dict[str, Any] | None
    notes: list[str]


@router.post(
    "/datasets/{dataset_id}/analyze-risk", summary="Assess the risk", response_model=RiskAnswer, responses=LATER
)
async def analyze_risk(
    dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep, prefer: Prefer = None
) -> JSONResponse:
    """Anonymize a dataset and assess the risk of re-identification in the result; the result is not kept."""
    return await _assessed(service, actor, dataset_id, body, prefer=prefer, parts=tuple(RiskAnswer.model_fields))


@router.post(
    "/datasets/{dataset_id}/calculate-weighted-risk",
    summary="Calculate the weighted risk",
    response_model=WeightedRiskAnswer,
    responses=LATER,
)
async def calculate_weighted_risk(
    dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep, prefer: Prefer = None
) -> JSONResponse:
    """Weight the measures of risk by the policy of the service."""
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
    """Return the named parts of the result, or the weighted risk and its unit if none are named."""
    job_id, rows = await run_in_threadpool(begin_risk, service, actor, dataset_id, body.plain())
    row = await job_in_time(service, job_id, small=is_small(service, rows), prefer=prefer)
    if row.state in (State.FAILED, State.CANCELLED):
        return answer(problem_for_actor(row, actor) or {})
    if row.state != State.DONE:
        return JSONResponse({"job": job_to_dict(row)}, 202, location_of_job(job_id))
    if parts:
        return JSONResponse({part: row.result[part] for part in parts})
    return JSONResponse(row.result["weighted_risk"] | {"unit": row.result["unit"]})


@router.post("/datasets/{dataset_id}/evaluate", summary="Evaluate a plan")
async def evaluate_plan(dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep) -> EvaluationAnswer:
    """Return what a config would release; nothing is stored, and the audit log gets an entry."""
    told = await run_preview(evaluation.evaluate, service, actor, dataset_id, body.plain())
    return EvaluationAnswer(**told)


@router.post("/datasets/{dataset_id}/tradeoff", summary="Try other settings of a plan")
async def try_settings(dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep) -> TradeoffAnswer:
    """Return what other values of k, of the suppression limit and of epsilon would cost; figures only."""
    found = await run_preview(settings_tried.tried, service, actor, dataset_id, body.plain())
    return TradeoffAnswer(**found.to_dict())
