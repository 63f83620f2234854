"""Data sets: upload a table, look at it, and see what each column might be."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.service.approvals.requests import perform
from kohorte.service.datasets import proposal, raw_rows, records
from kohorte.service.jobs.queue import State
from kohorte.service.web.dependencies import Number, PageNumber
from kohorte.service.web.execution.synchronous import job_in_time
from kohorte.service.web.execution.table_work import run_table_work
from kohorte.service.web.models.datasets import DatasetTexts
from kohorte.service.web.multipart import received
from kohorte.service.web.routes.datasets import SMALL_UPLOAD
from kohorte.service.web.screens.visitors import FORM_TOKEN, Allowed, Visitor, refuse_forged

router = APIRouter(include_in_schema=False)
LIST, NEW = "/app/datasets", "/app/datasets/new"
PER_PAGE, SHOWN_ROWS = 50, 10
LONGEST_NAME = 200
ENCODINGS = ("utf-8", "cp1252", "iso-8859-15", "utf-16")
Steward = Annotated[Visitor, Allowed("upload_dataset")]
Reader = Annotated[Visitor, Allowed("show_dataset")]


@router.get(LIST, name="screen_datasets")
def datasets_page(visitor: Annotated[Visitor, Allowed("list_datasets")], page: PageNumber = 1) -> Response:
    """List the data sets."""
    found = records.page(visitor.service, limit=PER_PAGE, number=page)
    return visitor.page("datasets.html.j2", datasets=found["datasets"], page=page, pages=-(-found["total"] // PER_PAGE))


@router.get(NEW, name="screen_upload")
def upload_page(visitor: Steward) -> Response:
    """Show the form for a table."""
    return _upload(visitor)


@router.post(NEW, name="screen_uploading")
async def upload(visitor: Annotated[Visitor, Allowed("upload_dataset", uploads=True)]) -> Response:
    """Store a table, which is encrypted while it arrives, and wait for a small one until it has been read."""
    service = visitor.service
    try:
        found, fields = await received(
            visitor.request, service.vault, limit=service.settings.upload_limit, also=(FORM_TOKEN,)
        )
    except InputError as error:
        return _upload(visitor, error)
    try:
        refuse_forged(visitor, str(fields.pop(FORM_TOKEN, "")))
        texts = _texts(fields, found.file_name)
    except InputError as error:
        service.vault.remove(found.file)
        return _upload(visitor, error)
    except KohorteError:
        service.vault.remove(found.file)
        raise
    about: dict[str, Any] = {"name": texts.name, "description": texts.description, "layout": texts.layout}
    number, job_id = await run_in_threadpool(partial(records.create, service, visitor.actor, found, **about))
    job = await job_in_time(service, job_id, small=found.bytes <= SMALL_UPLOAD, prefer=None)
    if job.state in (State.FAILED, State.CANCELLED):
        await run_in_threadpool(records.give_up, service, number)
        return _upload(visitor, Refusal(job.problem["detail"], job.problem["code"]))
    return visitor.to(f"{LIST}/{number}", said="dataset-stored")


@router.get(f"{LIST}/{{dataset_id}}", name="screen_dataset")
async def dataset_page(dataset_id: Number, visitor: Reader) -> Response:
    """Show a data set: its columns with proposed roles and, for stewards, its first rows."""
    shown = await run_in_threadpool(records.show, visitor.service, visitor.actor, dataset_id)
    ready = shown["state"] == records.READY
    found: dict[str, Any] = {"proposal": None, "rows": None, "too_large": None}
    try:
        if ready and visitor.may("propose_config"):
            found["proposal"] = await run_table_work(proposal.propose, visitor.service, visitor.actor, dataset_id)
        if ready and visitor.may("preview_dataset"):
            read = partial(raw_rows.preview, visitor.service, visitor.actor, dataset_id, rows=SHOWN_ROWS)
            found["rows"] = await run_table_work(read)
    except InputError as error:
        if error.code != "preview-too-large":
            raise
        found["too_large"] = error
    return visitor.page("dataset.html.j2", dataset=shown, **found)


@router.post(f"{LIST}/{{dataset_id}}/delete", name="screen_delete_dataset")
def delete_dataset(dataset_id: Number, visitor: Annotated[Visitor, Allowed("delete_dataset")]) -> Response:
    """Delete a data set that no project uses, or ask a second person to confirm it."""
    outcome = perform(visitor.service, visitor.actor, "delete_dataset", dataset_id)
    if outcome.approval is not None:
        return visitor.to(f"/app/approvals/{outcome.approval['approval_id']}", said="waits")
    return visitor.to(LIST, said="dataset-deleted")


class Refusal(NamedTuple):
    """Why a job refused a file, as the page shows it."""

    message: str
    code: str


def _upload(visitor: Visitor, problem: KohorteError | Refusal | None = None) -> Response:
    status = 200 if problem is None else 400
    return visitor.page("upload.html.j2", status=status, problem=problem, encodings=ENCODINGS)


def _texts(fields: dict[str, Any], file_name: str) -> DatasetTexts:
    """The texts of the form: an empty field is one that was not given, and the file gives a name."""
    given = {name: value for name, value in fields.items() if value != ""}
    given.setdefault("name", file_name[:LONGEST_NAME])
    if given.get("separator") == "tab":
        given["separator"] = "\t"
    try:
        return DatasetTexts.model_validate(given)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        raise InputError(f"{place}: is not valid", code="upload-part") from None
