"""The risk of a release, before and after: of a config, of a draft, and of a project."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from kohorte.service.assessments import assessment
from kohorte.service.web.dependencies import ActorDep, Number, ServiceDep
from kohorte.service.web.execution.table_work import run_assessment
from kohorte.service.web.models.projects import RiskConfig

router = APIRouter(tags=["risk"])


class Question(BaseModel):
    """One of the three questions of the Article 29 Working Party (Opinion 05/2014), answered with the figures."""

    name: str = Field(examples=["singling_out", "linkability", "inference"])
    question: str
    answer: str
    open: bool = Field(description="Whether somebody has to think about it.")


class ColumnSuppression(BaseModel):
    """How unevenly rows are suppressed: the share of the groups of a column."""

    attribute: str
    lowest_share: float
    highest_share: float
    groups: list[dict[str, Any]] | None = Field(
        default=None, description="The groups with their labels; only for people who see values."
    )


class Suppressed(BaseModel):
    """Who is suppressed."""

    rows: int
    share: float
    people: int | None = Field(description="People whose rows are all suppressed, where people are counted.")
    known: bool = Field(description="False if it cannot be told which rows are suppressed.")
    lost_values: dict[str, int] = Field(description="How many values of a column no longer occur.")
    columns: list[ColumnSuppression]
    unlisted: list[str] = Field(description="Columns that have too many groups to compare.")


class AssessmentAnswer(BaseModel):
    """The risk before and after, the three questions, the attacks that were run, and who is suppressed."""

    unit: str = Field(examples=["people"], description="What the figures of risk count.")
    rows: int
    rows_before: int
    people: int | None
    risk: dict[str, Any] = Field(description="As `kohorte risk TABLE --compare RELEASE --json` prints it.")
    verdict: dict[str, Any] = Field(description="Green, amber if something is open, or red; with the reasons.")
    questions: list[Question]
    attacks: dict[str, Any] = Field(description="As `kohorte attack --json` prints it.")
    suppressed: Suppressed


@router.post("/datasets/{dataset_id}/assess", summary="Assess what a plan would release")
async def assess_plan(dataset_id: Number, body: RiskConfig, service: ServiceDep, actor: ActorDep) -> AssessmentAnswer:
    """Make a release of a config, which is not kept, measure its risk, and attack it."""
    found = await run_assessment(assessment.of_plan, service, actor, dataset_id, body.plain())
    return AssessmentAnswer(**found)


@router.get("/drafts/{draft_id}/risk", summary="The risk of a draft")
async def show_draft_risk(draft_id: Number, service: ServiceDep, actor: ActorDep) -> AssessmentAnswer:
    """Measure the risk of what a draft would release; after its submission, of exactly what was submitted."""
    return AssessmentAnswer(**await run_assessment(assessment.of_draft, service, actor, draft_id))


@router.get("/projects/{project_id}/risk", summary="The risk of a release")
async def show_project_risk(project_id: Number, service: ServiceDep, actor: ActorDep) -> AssessmentAnswer:
    """Measure the risk of a release as it is stored."""
    return AssessmentAnswer(**await run_assessment(assessment.of_project, service, actor, project_id))
