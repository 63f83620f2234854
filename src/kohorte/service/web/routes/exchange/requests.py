"""Requests of other institutions: received, checked as a job, decided by two people, answered."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from starlette.responses import FileResponse, HTMLResponse

from kohorte.service.exchange import requests
from kohorte.service.jobs import listing
from kohorte.service.web.dependencies import ActorDep, Number, ServiceDep
from kohorte.service.web.execution.synchronous import location_of_job
from kohorte.service.web.middleware.security_headers import ONE_PAGE
from kohorte.service.web.models.exchange import (
    AnsweredRequest,
    CheckWish,
    DecidedAnswer,
    GivenRequest,
    RequestAnswer,
    RequestDecision,
    RequestsAnswer,
    WholeRequest,
)
from kohorte.service.web.models.responses import JobAnswer

router = APIRouter(tags=["exchange"], prefix="/exchange/requests")
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}


@router.post("", status_code=201, summary="Receive a request that came as a file")
def receive_request(body: GivenRequest, service: ServiceDep, actor: ActorDep) -> RequestAnswer:
    """Keep a request under a number; its requester is named, not proven."""
    return RequestAnswer(**requests.receive(service, actor, body.request))


@router.get("", summary="List the requests")
def list_requests(service: ServiceDep) -> RequestsAnswer:
    """Return all requests of other institutions and how far they are."""
    return RequestsAnswer(requests=[DecidedAnswer(**one) for one in requests.listed(service)])


@router.get("/{number}", summary="Show a request")
def show_request(number: Number, service: ServiceDep) -> WholeRequest:
    """Return a request, how far it is, and who decided what."""
    return WholeRequest(**requests.shown(service, number))


@router.post("/{number}/check", status_code=202, summary="Check a request")
def check_request(
    number: Number, body: CheckWish, service: ServiceDep, actor: ActorDep, response: Response
) -> JobAnswer:
    """Start a job that checks a request against the table of a dataset; it can be cancelled as every job."""
    job_id = requests.begin_check(service, actor, number, body.dataset_id, body.holding)
    response.headers.update(location_of_job(job_id))
    return JobAnswer(**listing.job_for_actor(listing.shown(service, actor, job_id), actor))


@router.get("/{number}/check", summary="Show the latest check")
def show_check(number: Number, service: ServiceDep) -> dict[str, Any]:
    """Return the recorded steps of the latest check, and their hash."""
    record = requests.record(service, number)
    return {"check": record.sha256, "steps": [step.to_dict() for step in record.steps]}


@router.get("/{number}/page", summary="Read the latest check", response_class=HTMLResponse)
def show_check_page(number: Number, service: ServiceDep, actor: ActorDep) -> HTMLResponse:
    """Return the latest check as a self-contained HTML page with fields to sign."""
    page = requests.page(service, actor, number)
    return HTMLResponse(page, headers={"Content-Security-Policy": ONE_PAGE})


@router.post("/{number}/decisions", summary="Decide about a request")
def decide_request(number: Number, body: RequestDecision, service: ServiceDep, actor: ActorDep) -> DecidedAnswer:
    """Note your decision about a check; two people must agree to a release, and neither may be the requester."""
    decided = requests.decide_request(service, actor, number, body.decision, check=body.check, reason=body.reason)
    return DecidedAnswer(**decided)


@router.post("/{number}/answer", summary="Answer a request")
def answer_request(number: Number, service: ServiceDep, actor: ActorDep) -> AnsweredRequest:
    """Answer as the people decided: sent to the institution that asked, or as files if the request came as a file."""
    return AnsweredRequest(**requests.answer_request(service, actor, number))


@router.get("/{number}/answer/{name}", summary="Download an answer", response_class=FileResponse, responses=FILE)
def download_answer(number: Number, name: str, service: ServiceDep, actor: ActorDep) -> FileResponse:
    """Return a file of the answer to a request that came as a file."""
    return FileResponse(requests.answer_file(service, actor, number, name), media_type="application/octet-stream")
