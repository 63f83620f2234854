"""Datasets and their hierarchies."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field, StringConstraints, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from kohorte.errors import InputError
from kohorte.hierarchies import Rows
from kohorte.service.approvals.requests import perform
from kohorte.service.datasets import hierarchies, hierarchy_editing, proposal, raw_rows, records, transformations
from kohorte.service.jobs.queue import State, job_to_dict
from kohorte.service.settings import MEBIBYTE
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.errors import answer
from kohorte.service.web.execution.synchronous import Prefer, job_in_time, location_of_job
from kohorte.service.web.execution.table_work import run_table_work
from kohorte.service.web.models.datasets import (
    LOCATION,
    STORED,
    UPLOAD,
    DatasetAnswer,
    DatasetChange,
    DatasetsAnswer,
    DatasetTexts,
    ExaminedHierarchy,
    HierarchyRows,
    HierarchyToExamine,
    ListedHierarchies,
    ListedHierarchy,
    Preview,
    ProposalAnswer,
    StoredHierarchy,
)
from kohorte.service.web.models.transformations import Transformation
from kohorte.service.web.multipart import received
from kohorte.service.web.routes.approvals import MAY_WAIT, waiting

router = APIRouter(tags=["datasets"])
SMALL_UPLOAD = 64 * MEBIBYTE
Attribute = Annotated[str, StringConstraints(min_length=1, max_length=1000), Field(description="The name of a column.")]


@router.post(
    "/datasets",
    status_code=201,
    summary="Upload a dataset",
    openapi_extra=UPLOAD,
    response_model=DatasetAnswer,
    responses={
        201: {"headers": LOCATION},
        202: {
            "description": "The file is being read: the dataset and its job",
            "headers": LOCATION,
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    },
)
async def upload_dataset(request: Request, service: ServiceDep, actor: ActorDep, prefer: Prefer = None) -> Response:
    """Upload a table, CSV or Parquet, with its name and description.

    The body has one file, and either a JSON object (as a part named `json` or of type application/json) or the form
    fields `name` and `description`. `separator` and `encoding` describe a CSV file if they cannot be detected. For a
    large file the response is 202 with the job that reads it.
    """
    upload, fields = await received(request, service.vault, limit=service.settings.upload_limit)
    try:
        texts = _texts(fields)
    except RequestValidationError:
        service.vault.remove(upload.file)
        raise
    number, job_id = await run_in_threadpool(
        records.create, service, actor, upload, name=texts.name, description=texts.description, layout=texts.layout
    )
    job = await job_in_time(service, job_id, small=upload.bytes <= SMALL_UPLOAD, prefer=prefer)
    if job.state in (State.FAILED, State.CANCELLED):
        await run_in_threadpool(records.give_up, service, number)
        return answer(job.problem)
    shown = await run_in_threadpool(records.show, service, actor, number)
    if job.state == State.DONE:
        return JSONResponse(shown, 201, {"Location": f"/api/v1/datasets/{number}"})
    return JSONResponse({"job": job_to_dict(job), **shown}, 202, location_of_job(job_id))


@router.get("/datasets", summary="List the datasets", response_model=DatasetsAnswer)
def list_datasets(service: ServiceDep, limit: Limit = 20, page: PageNumber = 1) -> dict[str, Any]:
    """Return a page of the datasets, the newest last."""
    return records.page(service, limit=limit, number=page)


@router.get("/datasets/{dataset_id}", summary="Show a dataset", response_model=DatasetAnswer)
def show_dataset(dataset_id: Number, service: ServiceDep, actor: ActorDep) -> dict[str, Any]:
    """Return a dataset: counts and the names of its columns, no rows."""
    return records.show(service, actor, dataset_id)


@router.get("/datasets/{dataset_id}/preview", summary="Show the first rows", response_model=Preview)
async def preview_dataset(
    dataset_id: Number, service: ServiceDep, actor: ActorDep, rows: Annotated[int, Query(ge=1, le=100)] = 20
) -> dict[str, Any]:
    """Return the first rows of the raw table as text; the audit log gets an entry."""
    return await run_table_work(raw_rows.preview, service, actor, dataset_id, rows=rows)


@router.patch("/datasets/{dataset_id}", summary="Rename or describe a dataset", response_model=DatasetAnswer)
def change_dataset(dataset_id: Number, body: DatasetChange, service: ServiceDep, actor: ActorDep) -> dict[str, Any]:
    """Change the name or the description."""
    return records.change(service, actor, dataset_id, body.model_dump(exclude_none=True))


@router.delete("/datasets/{dataset_id}", status_code=204, summary="Delete a dataset", responses=MAY_WAIT)
def delete_dataset(dataset_id: Number, service: ServiceDep, actor: ActorDep) -> Response:
    """Delete a dataset with its files and hierarchies; refused while projects or jobs use it."""
    return waiting(perform(service, actor, "delete_dataset", dataset_id)) or Response(status_code=204)


@router.get("/datasets/{dataset_id}/proposal", summary="Propose parameters", response_model=ProposalAnswer)
async def propose_config(dataset_id: Number, service: ServiceDep, actor: ActorDep) -> dict[str, Any]:
    """Propose a configuration: roles, hierarchies and models, with reasons; names and counts, no values."""
    return await run_table_work(proposal.propose, service, actor, dataset_id)


@router.post(
    "/datasets/{dataset_id}/create-generalization-hierarchy",
    summary="Build a hierarchy for a column",
    response_model=HierarchyRows,
)
async def create_generalization_hierarchy(
    dataset_id: Number, body: Transformation, service: ServiceDep, actor: ActorDep
) -> Response:
    """Build a hierarchy for the values of a column by a transformation; nothing is stored."""

    def made() -> Response:
        rows = transformations.transformed(service, actor, dataset_id, body.attribute_name, body.builder())
        return JSONResponse({"hierarchy": rows})

    return await run_table_work(made)


@router.post(
    "/datasets/{dataset_id}/examine-hierarchy", summary="Examine a hierarchy", response_model=ExaminedHierarchy
)
async def examine_hierarchy(
    dataset_id: Number, body: HierarchyToExamine, service: ServiceDep, actor: ActorDep
) -> Response:
    """Tell what is broken in a hierarchy, and where, and how many rows its labels cover; nothing is stored."""

    def examined() -> Response:
        found = hierarchy_editing.examined(
            service, actor, dataset_id, body.attribute_name, body.hierarchy, person=body.person
        )
        return JSONResponse(found.to_dict())

    return await run_table_work(examined)


@router.get("/datasets/{dataset_id}/hierarchies", summary="List the stored hierarchies")
def list_hierarchies(dataset_id: Number, service: ServiceDep, actor: ActorDep) -> ListedHierarchies:
    """Return the columns of a dataset, and for which of them a hierarchy is stored."""
    return ListedHierarchies(
        hierarchies=[ListedHierarchy(**one) for one in hierarchies.listed(service, actor, dataset_id)]
    )


@router.put(
    "/datasets/{dataset_id}/hierarchies/{attribute:path}",
    summary="Store a hierarchy",
    openapi_extra=STORED,
    response_model=StoredHierarchy,
    responses={201: {"model": StoredHierarchy, "description": "Stored for the first time", "headers": LOCATION}},
)
async def store_hierarchy(
    dataset_id: Number,
    attribute: Attribute,
    request: Request,
    service: ServiceDep,
    actor: ActorDep,
    separator: Annotated[str, Query(pattern=r"^[;,|\t]$", description="Separator of a body in CSV.")] = ";",
) -> Response:
    """Store the hierarchy of a column for use in projects; it has to cover all values of the column."""
    body, kind = await request.body(), request.headers.get("content-type")

    def stored() -> tuple[dict[str, Any], bool]:
        return hierarchies.store(service, actor, dataset_id, attribute, _rows(body, kind, separator))

    shown, new = await run_table_work(stored)
    headers = {"Location": f"/api/v1/datasets/{dataset_id}/hierarchies/{quote(attribute, safe='')}"} if new else {}
    return JSONResponse(shown, 201 if new else 200, headers)


@router.get(
    "/datasets/{dataset_id}/hierarchies/{attribute:path}",
    summary="Show a stored hierarchy",
    response_model=HierarchyRows,
)
def show_hierarchy(dataset_id: Number, attribute: Attribute, service: ServiceDep, actor: ActorDep) -> Response:
    """Return a stored hierarchy."""
    return JSONResponse({"hierarchy": hierarchies.show(service, actor, dataset_id, attribute)})


@router.delete(
    "/datasets/{dataset_id}/hierarchies/{attribute:path}", status_code=204, summary="Delete a stored hierarchy"
)
def delete_hierarchy(dataset_id: Number, attribute: Attribute, service: ServiceDep, actor: ActorDep) -> None:
    """Delete a stored hierarchy; projects that were created with it keep their copy."""
    hierarchies.remove(service, actor, dataset_id, attribute)


def _texts(fields: dict[str, Any]) -> DatasetTexts:
    try:
        return DatasetTexts.model_validate(fields)
    except ValidationError as error:
        raise _invalid(error) from None


def _rows(body: bytes, content_type: str | None, separator: str) -> Rows:
    kind, _ = parse_options_header(content_type)
    if kind not in (b"application/json", b"text/csv"):
        raise InputError("send a hierarchy as text/csv or application/json", code="hierarchy-content-type")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the hierarchy is not UTF-8", code="hierarchy-file-encoding") from None
    return Rows.from_csv(text, separator=separator) if kind == b"text/csv" else _rows_of_json(text)


def _rows_of_json(text: str) -> Rows:
    try:
        return Rows(HierarchyRows.model_validate(json.loads(text)).hierarchy)
    except json.JSONDecodeError as error:
        found = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "", "ctx": {"error": error.msg}}
        raise RequestValidationError([found]) from None
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> RequestValidationError:
    found = error.errors(include_url=False, include_input=False)
    return RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found])
