"""Consents, exports and TempIDs of the patient list; PIDs and TempIDs come in bodies, never in URLs."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.permissions import Permission
from kohorte.service.trust import consents, temp_ids
from kohorte.service.web.dependencies import ActorDep, Number, ServiceDep
from kohorte.service.web.execution.constant_time import TEXTS_OF_A_STEP, run_discreetly
from kohorte.service.web.models.consents import (
    ConsentsAnswer,
    CoveredPerson,
    ExportAnswer,
    ExportWish,
    GivenConsent,
    PeopleCount,
    PidsAnswer,
    ReleasedAnswer,
    TempIds,
    TempIdWish,
    WithdrawnConsent,
)
from kohorte.service.web.models.patients import OnePid

router = APIRouter(tags=["patients"], prefix="/patients")


def _step(service: Service, actor: Actor, texts: int) -> float | None:
    """How long the answer to a recipient takes at least; trustees may learn who is in the list."""
    if actor.may(Permission.MANAGE_PATIENTS):
        return None
    return service.settings.answer_seconds * (1 + texts / TEXTS_OF_A_STEP)


@router.post("/consents", summary="Note that people agreed")
def give_consent(body: GivenConsent, service: ServiceDep, actor: ActorDep) -> PeopleCount:
    """Note the consent of people to purposes and, if they wish, kinds of data, until a day."""
    people = consents.give(
        service, actor, body.pids, body.purposes, categories=body.categories, start=body.start, until=body.until
    )
    return PeopleCount(people=people)


@router.post("/consents/withdraw", summary="Take a consent back")
def withdraw_consent(body: WithdrawnConsent, service: ServiceDep, actor: ActorDep) -> ReleasedAnswer:
    """End the consents of a person: no later export has the person. Returns the exports that were made before."""
    return ReleasedAnswer(**consents.withdraw(service, actor, body.pid, body.purposes))


@router.post("/consents/show", summary="Show the consents of a person")
def show_consents(body: OnePid, service: ServiceDep, actor: ActorDep) -> ConsentsAnswer:
    """Return what a person agreed to and took back."""
    return ConsentsAnswer(**consents.show(service, actor, body.pid))


@router.post("/consents/released", summary="List the exports that a person was in")
def list_released(body: OnePid, service: ServiceDep, actor: ActorDep) -> ReleasedAnswer:
    """Return to which projects data of a person was released."""
    return ReleasedAnswer(**consents.released(service, actor, body.pid))


@router.post("/exports", summary="Note an export to a project")
async def export_patients(body: ExportWish, service: ServiceDep, actor: ActorDep) -> ExportAnswer:
    """Return who of the given people, or of all, agreed to a purpose; it is noted for each of them.

    A recipient does not learn whether a person who is left out is in the list, also not from the time of the answer.
    """
    step = _step(service, actor, len(body.pids or ()))
    work = partial(consents.export, purpose=body.purpose, project=body.project, categories=body.categories)
    number, people = await run_discreetly(step, work, service, actor, body.pids)
    return ExportAnswer(export=number, people=[CoveredPerson(**one) for one in people])


@router.post("/exports/{number}/confirm", summary="Check that an export is still covered")
def confirm_export(number: Number, service: ServiceDep, actor: ActorDep) -> PeopleCount:
    """Check, before data is handed over, that nobody in the export has withdrawn meanwhile."""
    return PeopleCount(people=consents.confirm_asked(service, actor, number))


@router.post("/temp-ids", summary="Make TempIDs")
def issue_temp_ids(body: TempIdWish, service: ServiceDep, actor: ActorDep) -> TempIds:
    """Make tokens that stand for people for some minutes, once, and that only one account can resolve."""
    tokens = temp_ids.issue(service, actor, body.pids, recipient=body.recipient, minutes=body.minutes)
    return TempIds(temp_ids=[str(token) for token in tokens])


@router.post("/temp-ids/resolve", summary="Turn TempIDs into PIDs")
async def resolve_temp_ids(body: TempIds, service: ServiceDep, actor: ActorDep) -> PidsAnswer:
    """Return the PIDs of TempIDs that were made for the calling account, all or none; they are used up.

    Neither words nor time of a refusal tell whether a TempID is unknown, expired, used or for another account.
    """
    step = _step(service, actor, len(body.temp_ids))
    return PidsAnswer(pids=await run_discreetly(step, temp_ids.resolve, service, actor, body.temp_ids))
