"""Projects: a table for a researcher, anonymized or to be asked in SQL."""

from __future__ import annotations

import io
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from kohorte.data import write_csv
from kohorte.service.accounts import users
from kohorte.service.jobs.queue import State, job_to_dict
from kohorte.service.projects import asking, exits, store
from kohorte.service.projects.dataset_budget import dataset_budget
from kohorte.service.projects.shown import project_to_dict, projects_to_dicts
from kohorte.service.web.dependencies import LARGEST_NUMBER, ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.errors import answer
from kohorte.service.web.headers import ONE_PAGE
from kohorte.service.web.heavy import in_turn
from kohorte.service.web.routes.project_bodies import (
    BudgetAnswer,
    DatasetBudget,
    EstimateAnswer,
    Preview,
    ProjectAnswer,
    ProjectBody,
    ProjectChange,
    ProjectsAnswer,
    QueryAnswer,
    Question,
    QuestionAnswer,
    QuestionsAnswer,
)
from kohorte.service.web.steady import asked
from kohorte.service.web.synchronous import Prefer, is_small, job_in_time, location_of_job

router = APIRouter(tags=["projects"])
LOCATION = {"Location": {"description": "Where the project, or its job, is.", "schema": {"type": "string"}}}
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": LOCATION},
    202: {"description": "The release is being made; see the job", "model": ProjectAnswer, "headers": LOCATION},
}
UserId = Annotated[
    int | None, Query(ge=1, le=LARGEST_NUMBER, description="Whose; a data steward may ask for anybody's.")
]


class CsvResponse(StreamingResponse):
    """A CSV file to save."""

    media_type = "text/csv"


@router.post("/projects", status_code=201, summary="Create a project", response_model=ProjectAnswer, responses=CREATED)
async def create_project(
    body: ProjectBody, service: ServiceDep, actor: ActorDep, prefer: Prefer = None
) -> JSONResponse:
    """Share a dataset with a researcher: as an anonymized table, or for questions under differential privacy."""
    wanted = store.NewProject(
        body.name, body.description, body.dataset_id, body.researcher_id, config=body.config.plain()
    )
    created = await in_turn(store.create, service, actor, wanted)
    location, status, job = {"Location": f"/api/v1/projects/{created.project_id}"}, 201, {}
    if created.job_id is not None:
        row = await job_in_time(service, created.job_id, small=is_small(service, created.rows), prefer=prefer)
        if row.state in (State.FAILED, State.CANCELLED):
            await run_in_threadpool(store.delete, service, actor, created.project_id, action="give-up-project")
            return answer(row.problem)
        if row.state != State.DONE:
            location, status, job = location_of_job(row.id), 202, {"job": job_to_dict(row)}
    row = await run_in_threadpool(store.show, service, actor, created.project_id)
    shown = await run_in_threadpool(project_to_dict, service, actor, row)
    warnings = [*created.warnings, *(row.certificate or {}).get("warnings", ())]
    return JSONResponse({**shown, "warnings": warnings, **job}, status, location)


@router.get("/projects", summary="List the projects")
def list_projects(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> ProjectsAnswer:
    """Return a page of the projects: a data steward sees all, a researcher the own ones."""
    rows, total = store.page(service, actor, limit=limit, number=page)
    shown = [ProjectAnswer(**entry) for entry in projects_to_dicts(service, actor, rows)]
    return ProjectsAnswer(projects=shown, limit=limit, page=page, total=total)


@router.get("/projects/{project_id}", summary="Show a project")
def show_project(project_id: Number, service: ServiceDep, actor: ActorDep) -> ProjectAnswer:
    """Return a project."""
    return ProjectAnswer(**project_to_dict(service, actor, store.show(service, actor, project_id)))


@router.patch("/projects/{project_id}", summary="Rename a project")
def change_project(project_id: Number, body: ProjectChange, service: ServiceDep, actor: ActorDep) -> ProjectAnswer:
    """Change the name or the description; how the table is protected never changes."""
    changed = store.change(service, actor, project_id, body.model_dump(exclude_none=True))
    return ProjectAnswer(**project_to_dict(service, actor, changed))


@router.delete("/projects/{project_id}", status_code=204, summary="Delete a project")
def delete_project(project_id: Number, service: ServiceDep, actor: ActorDep) -> None:
    """Delete a project with its files; what was spent on it stays in the book."""
    store.delete(service, actor, project_id)


@router.get("/projects/{project_id}/csv", summary="Download the anonymized table", response_class=CsvResponse)
def download_csv(project_id: Number, service: ServiceDep, actor: ActorDep) -> CsvResponse:
    """Return the released table, which was verified when it was made."""
    return CsvResponse(exits.csv_chunks(service, actor, project_id), headers=_attachment(f"project-{project_id}.csv"))


@router.get("/projects/{project_id}/preview", summary="Look at the anonymized table")
def preview_release(
    project_id: Number, service: ServiceDep, actor: ActorDep, rows: Annotated[int, Query(ge=1, le=100)] = 20
) -> Preview:
    """Return the first rows of the released table."""
    return Preview(**exits.preview(service, actor, project_id, rows=rows))


@router.get("/projects/{project_id}/certificate", summary="Show the evidence")
def show_certificate(project_id: Number, service: ServiceDep, actor: ActorDep) -> dict[str, Any]:
    """Return the certificate of the released table."""
    return exits.certificate(service, actor, project_id)


@router.get("/projects/{project_id}/report", summary="Read the report", response_class=HTMLResponse)
def show_report(project_id: Number, service: ServiceDep, actor: ActorDep) -> HTMLResponse:
    """Return the report on the released table as a page that holds all it needs."""
    page = exits.report(service, actor, project_id)
    return HTMLResponse(page, headers={"Content-Security-Policy": ONE_PAGE})


@router.post("/projects/{project_id}/analyze", summary="Ask in SQL")
async def analyze(project_id: Number, body: Question, service: ServiceDep, actor: ActorDep) -> QueryAnswer:
    """Answer a question with noise, and pay for it from the own budget; the same question again costs nothing."""
    return QueryAnswer(**await asked(actor.user_id, asking.ask, service, actor, project_id, _asked(body)))


@router.post("/projects/{project_id}/estimate", summary="Estimate cost and error")
async def estimate(project_id: Number, body: Question, service: ServiceDep, actor: ActorDep) -> EstimateAnswer:
    """Say what a question would cost and how far its answer would be off; nothing is spent."""
    return EstimateAnswer(**await asked(actor.user_id, asking.estimate, service, actor, project_id, _asked(body)))


@router.get("/projects/{project_id}/dummy-data", summary="Download made-up data", response_class=CsvResponse)
def download_dummy_data(
    project_id: Number,
    service: ServiceDep,
    actor: ActorDep,
    rows: Annotated[int, Query(ge=1, le=100_000)] = 1_000,
    seed: Annotated[int, Query(ge=0, le=LARGEST_NUMBER)] = 0,
) -> Response:
    """Return a made-up table to develop questions on."""
    written = io.BytesIO()
    write_csv(asking.dummy_data(service, actor, project_id, rows=rows, seed=seed), written)
    return Response(written.getvalue(), media_type="text/csv", headers=_attachment(f"dummy-{project_id}.csv"))


@router.get("/projects/{project_id}/budget", summary="Show the budget")
def show_budget(project_id: Number, service: ServiceDep, actor: ActorDep, user_id: UserId = None) -> BudgetAnswer:
    """Return what was spent and what remains; a data steward may ask for somebody else's (`user_id`)."""
    if user_id is not None:
        users.shown(service, actor, user_id)
    return BudgetAnswer(**asking.budget_of(service, actor, project_id, user_id))


@router.get("/projects/{project_id}/questions", summary="List the paid questions")
def list_questions(
    project_id: Number,
    service: ServiceDep,
    actor: ActorDep,
    user_id: UserId = None,
    limit: Limit = 20,
    page: PageNumber = 1,
) -> QuestionsAnswer:
    """Return a page of the own questions; a data steward sees everybody's."""
    found, total = exits.questions(service, actor, project_id, user_id=user_id, limit=limit, number=page)
    return QuestionsAnswer(questions=[QuestionAnswer(**entry) for entry in found], limit=limit, page=page, total=total)


@router.get("/datasets/{dataset_id}/budget", summary="Show what was spent on a dataset")
def show_dataset_budget(dataset_id: Number, service: ServiceDep, actor: ActorDep) -> DatasetBudget:
    """Return what each user has spent in each project, and over all projects."""
    return DatasetBudget(**dataset_budget(service, actor, dataset_id))


def _asked(body: Question) -> asking.Asked:
    return asking.Asked(body.query, body.epsilon, body.delta)


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
