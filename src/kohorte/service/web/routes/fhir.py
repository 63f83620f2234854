"""Operations of other pseudonym services at their own paths, so that existing clients work: gPAS and Vfps.

What is wrong is told as an OperationOutcome; who is not signed in, or may not do it, gets a problem as everywhere else.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.responses import JSONResponse

from kohorte.errors import KohorteError
from kohorte.pseudonyms.fhir.operations import operation_outcome
from kohorte.pseudonyms.fhir.serving import GPAS_PATH, VFPS_PATH
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.problems import status_of
from kohorte.service.trust import fhir, refusals
from kohorte.service.web.dependencies import ActorDep, ServiceDep
from kohorte.service.web.errors import PROBLEMS
from kohorte.service.web.execution.constant_time import run_discreetly
from kohorte.service.web.routes.domains import step_for

MEDIA_TYPE = "application/fhir+json"
OUTCOME = {MEDIA_TYPE: {"schema": {"type": "object", "description": "An OperationOutcome."}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {**PROBLEMS[status], "content": {**PROBLEMS[status]["content"], **OUTCOME}} for status in (400, 403, 404)
}


class FhirResponse(JSONResponse):
    """A resource."""

    media_type = MEDIA_TYPE


def _example(**values: object) -> dict[str, Any]:
    entries = [
        {"name": name, "valueInteger" if isinstance(value, int) else "valueString": value}
        for name, value in values.items()
    ]
    return {"resourceType": "Parameters", "parameter": entries}


def _parameters(**values: object) -> Any:
    return Body(description="A Parameters resource of FHIR R4.", examples=[_example(**values)])


Originals = Annotated[dict[str, Any], _parameters(target="study", original="4711")]
Pseudonyms = Annotated[dict[str, Any], _parameters(target="study", pseudonym="7K3MX9RT", request=1)]
Original = Annotated[dict[str, Any], _parameters(namespace="study", originalValue="4711")]
router = APIRouter(tags=["fhir"], default_response_class=FhirResponse, responses=RESPONSES)


@router.post(f"{GPAS_PATH}/$pseudonymizeAllowCreate", summary="Pseudonymize values (gPAS)")
async def gpas_pseudonymize_allow_create(body: Originals, service: ServiceDep, actor: ActorDep) -> FhirResponse:
    """Return the pseudonym of each `original` in the domain `target`; a value without one gets one."""
    return await _created(service, actor, "$pseudonymizeAllowCreate", body)


@router.post(f"{GPAS_PATH}/$pseudonymize-allow-create", summary="Pseudonymize values (gPAS before 1.10.3)")
async def old_gpas_pseudonymize_allow_create(body: Originals, service: ServiceDep, actor: ActorDep) -> FhirResponse:
    """The same as `$pseudonymizeAllowCreate`."""
    return await _created(service, actor, "$pseudonymize-allow-create", body)


@router.post(f"{GPAS_PATH}/$pseudonymize", summary="Look pseudonyms up (gPAS)")
def gpas_pseudonymize(body: Originals, service: ServiceDep, actor: ActorDep) -> FhirResponse:
    """Return the pseudonyms of values that have one; this tells who is in a list."""
    return _answer(service, actor, "$pseudonymize", body)


@router.post(f"{GPAS_PATH}/$dePseudonymize", summary="See the result of an approved request (gPAS)")
def gpas_de_pseudonymize(body: Pseudonyms, service: ServiceDep, actor: ActorDep) -> FhirResponse:
    """Return what pseudonyms stand for, once, if two others approved the `request` of this person for exactly them."""
    return _answer(service, actor, "$dePseudonymize", body)


@router.post(f"{GPAS_PATH}/$de-pseudonymize", summary="See the result of an approved request (gPAS before 1.10.3)")
def old_gpas_de_pseudonymize(body: Pseudonyms, service: ServiceDep, actor: ActorDep) -> FhirResponse:
    """The same as `$dePseudonymize`."""
    return _answer(service, actor, "$de-pseudonymize", body)


@router.post(f"{VFPS_PATH}/$create-pseudonym", summary="Pseudonymize one value (Vfps)")
async def vfps_create_pseudonym(body: Original, service: ServiceDep, actor: ActorDep) -> FhirResponse:
    """Return the pseudonym of `originalValue` in the domain `namespace`."""
    return await _created(service, actor, "$create-pseudonym", body)


async def _created(service: Service, actor: Actor, operation: str, parameters: object) -> FhirResponse:
    """Answer when the time says nothing about who was in a list."""
    step = step_for(service, actor, fhir.values_in(parameters))
    return await run_discreetly(step, _answer, service, actor, operation, parameters)


def _answer(service: Service, actor: Actor, operation: str, parameters: object) -> FhirResponse:
    try:
        return FhirResponse(fhir.answered(service, actor, operation, parameters))
    except KohorteError as error:
        status = status_of(error)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise
        refusals.note(service, Part.PSEUDONYMS, actor, operation, error)
        return FhirResponse(operation_outcome(error), status)
