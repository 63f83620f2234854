"""The patient list: PIDs and identity data come in bodies, never in URLs, because URLs are logged."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Response

from kohorte.service.approvals.requests import perform
from kohorte.service.permissions import Permission
from kohorte.service.trust import forgetting, patients, temp_ids
from kohorte.service.trust.leaving import encodings
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.execution.constant_time import PEOPLE_OF_A_STEP, run_discreetly
from kohorte.service.web.models.encodings import LIST_TEXT, EncodedIds, EncodedPidsAnswer, Encoding
from kohorte.service.web.models.patients import (
    CaseAnswer,
    CasesAnswer,
    CaseSideBySide,
    Decision,
    HistoryAnswer,
    Merge,
    OnePid,
    People,
    Registration,
    RegistrationsAnswer,
    Split,
    TwoPids,
    VersionAnswer,
)
from kohorte.service.web.routes.approvals import MAY_WAIT, waiting
from kohorte.service.web.routes.way_back import people_router

ENCODED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}, "example": LIST_TEXT}}}
}
router = APIRouter(tags=["patients"], prefix="/patients")
router.include_router(people_router)


@router.post("/registrations", summary="Register people")
async def register_patients(body: People, service: ServiceDep, actor: ActorDep) -> RegistrationsAnswer:
    """Give every person a PID, or a TempID for it: sources get TempIDs and do not learn who was in the list."""
    people = [one.model_dump() for one in body.people]
    step = None
    if not actor.may(Permission.MANAGE_PATIENTS):  # a trustee is told who was known
        step = service.settings.answer_seconds * (1 + len(people) / PEOPLE_OF_A_STEP)
    rehearse = partial(patients.rehearse, service, actor, people)
    register = partial(temp_ids.register, service, actor, people, recipient=body.temp_ids_for)
    found = await run_discreetly(step, rehearse if body.dry_run else register)
    return RegistrationsAnswer(registrations=[Registration.model_validate(one) for one in found])


@router.get("/cases", summary="List the open cases")
def list_cases(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> CasesAnswer:
    """Return a page of the cases that a person has to decide, without names."""
    found = patients.cases(service, actor)
    shown = [CaseAnswer(**one.to_dict()) for one in found[(page - 1) * limit : page * limit]]
    return CasesAnswer(cases=shown, limit=limit, page=page, total=len(found))


@router.get("/cases/{number}", summary="Show a case side by side")
def show_case(number: Number, service: ServiceDep, actor: ActorDep) -> CaseSideBySide:
    """Return the identity data of both people of a case; it is recorded that it was shown."""
    return CaseSideBySide(**patients.case(service, actor, number))


@router.post("/cases/{number}/decision", summary="Decide a case")
def decide_case(number: Number, body: Decision, service: ServiceDep, actor: ActorDep) -> TwoPids:
    """Decide whether a case is about one person; `merge` and `split` correct a decision."""
    kept, other = patients.decide(service, actor, number, same=body.verdict == "same")
    return TwoPids(pid=kept, other_pid=other)


@router.post("/merge", summary="Make two people one")
def merge_patients(body: Merge, service: ServiceDep, actor: ActorDep) -> TwoPids:
    """Make two people one: the first PID stays, and the second stands for the same person from now on."""
    kept, gone = patients.merge(service, actor, body.pid, body.other_pid)
    return TwoPids(pid=kept, other_pid=gone)


@router.post("/split", summary="Split records off a person")
def split_patient(body: Split, service: ServiceDep, actor: ActorDep) -> TwoPids:
    """Give records of a person to a person of their own; returns the PID of the first and the PID of the other."""
    stays, new = patients.split(service, actor, body.pid, body.records)
    return TwoPids(pid=stays, other_pid=new)


@router.post("/history", summary="Show what happened to a PID")
def show_patient_history(body: OnePid, service: ServiceDep, actor: ActorDep) -> HistoryAnswer:
    """Return the records and events of a PID, without identity data."""
    return HistoryAnswer(**patients.history(service, actor, body.pid))


@router.post("/forget", status_code=204, summary="Forget a person for good", responses=MAY_WAIT)
def forget_patient(body: OnePid, service: ServiceDep, actor: ActorDep) -> Response:
    """Destroy identity data and link of a person; the log of the patient list proves when."""
    values = {"patient": forgetting.reserve(service, actor, body.pid)}
    return waiting(perform(service, actor, "forget_patient", values=values)) or Response(status_code=204)


@router.post("/encodings", summary="Encode the list for a comparison", responses=ENCODED, response_class=Response)
def encode_patients(body: Encoding, service: ServiceDep, actor: ActorDep) -> Response:
    """Return the list as a CSV file for a third party, without names and PIDs; the secret is not kept."""
    table = encodings.encode(service, actor, body.secret)
    return Response(table.write_csv(), media_type="text/csv")


@router.post("/encodings/people", summary="Look up PIDs of an encoded list")
def look_up_encoded(body: EncodedIds, service: ServiceDep, actor: ActorDep) -> EncodedPidsAnswer:
    """Return the PIDs behind identifiers that this house has encoded, such as those of the matches."""
    return EncodedPidsAnswer(pids=encodings.look_up(service, actor, body.secret, body.ids))


@router.post("/rotate-key", summary="Rotate the key of the patient list")
def rotate_patients_key(service: ServiceDep, actor: ActorDep) -> VersionAnswer:
    """Seal the whole list with a new version of its key; PIDs stay the same."""
    return VersionAnswer(key_version=patients.rotate_key(service, actor))
