"""Domains of pseudonyms: texts come in bodies, never in URLs, because URLs are logged."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from kohorte.errors import InputError
from kohorte.pseudonyms.domains import definition_of
from kohorte.pseudonyms.texts import Dates
from kohorte.service.access import Actor
from kohorte.service.approvals.requests import perform
from kohorte.service.context import Service
from kohorte.service.trust import domains, forgetting
from kohorte.service.trust.leaving import encodings
from kohorte.service.web.dependencies import ActorDep, ServiceDep
from kohorte.service.web.execution.constant_time import TEXTS_OF_A_STEP, run_discreetly
from kohorte.service.web.models.encodings import PairAnswer, PairsAnswer, TwoLists
from kohorte.service.web.models.trust import (
    DestroyedKey,
    DomainAnswer,
    DomainsAnswer,
    ForgottenPseudonyms,
    NewDomain,
    OneDomainAnswer,
    Originals,
    PseudonymsAnswer,
)
from kohorte.service.web.routes.approvals import MAY_WAIT, waiting

router = APIRouter(tags=["pseudonyms"])
DomainName = Annotated[str, Path(min_length=1, max_length=100, description="The name of a domain.")]
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"description": "The URL of the domain.", "schema": {"type": "string"}}}}
}


def step_for(service: Service, actor: Actor, texts: int) -> float | None:
    """How long the answer to a call takes at least; None for those who may learn who is in a list."""
    return service.settings.answer_seconds * (1 + texts / TEXTS_OF_A_STEP) if domains.learns_nothing(actor) else None


@router.post("/domains", status_code=201, summary="Make a domain", responses=CREATED)
def create_domain(body: NewDomain, service: ServiceDep, actor: ActorDep, response: Response) -> DomainAnswer:
    """Make a domain with a new key, which stays in the folder of the service."""
    made = domains.create(service, actor, definition_of(**body.model_dump()))
    response.headers["Location"] = f"/api/v1/domains/{made.name}"
    return DomainAnswer(**made.figures)


@router.get("/domains", summary="List the domains")
def list_domains(service: ServiceDep) -> DomainsAnswer:
    """Return the definitions of all domains, without keys."""
    return DomainsAnswer(domains=[DomainAnswer(**one) for one in domains.listed(service)])


@router.get("/domains/{name}", summary="Show a domain")
def show_domain(name: DomainName, service: ServiceDep, actor: ActorDep) -> OneDomainAnswer:
    """Return the definition of a domain, without its key; trustees also learn how full a list is."""
    return OneDomainAnswer(**domains.shown(service, name), filled=domains.filled(service, actor, name))


@router.post("/domains/{name}/rotate-key", summary="Rotate the key of a domain")
def rotate_domain_key(name: DomainName, service: ServiceDep, actor: ActorDep) -> DomainAnswer:
    """Give a domain a new version of its key; what older versions made stays resolvable."""
    return DomainAnswer(**domains.rotate_key(service, actor, name).figures)


@router.post("/domains/{name}/pseudonyms", summary="Pseudonymize texts")
async def pseudonymize(name: DomainName, body: Originals, service: ServiceDep, actor: ActorDep) -> PseudonymsAnswer:
    """Return the pseudonyms of texts, and dates moved by so many days as each person has in the domain.

    The answer does not tell whether a text was known.
    """
    dates = None if body.dates is None else Dates(body.dates, body.within, body.date_format)
    step = step_for(service, actor, len(body.originals))
    work = partial(domains.pseudonymize, key_version=body.key_version, dates=dates)
    found = await run_discreetly(step, work, service, actor, name, body.originals)
    return PseudonymsAnswer(domain=name, key_version=found.key_version, pseudonyms=found.pseudonyms, dates=found.dates)


@router.post("/encodings/compare", summary="Compare two encoded patient lists")
def compare_lists(body: TwoLists, service: ServiceDep, actor: ActorDep) -> PairsAnswer:
    """Return pairs of rows that may be one person, as the third party between two houses; it needs no key."""
    pairs = encodings.compare(service, actor, body.one, body.other)
    found = [
        PairAnswer(**vars(pair) | {"similarity": round(pair.similarity, 4), "verdict": pair.verdict}) for pair in pairs
    ]
    matches = sum(one.verdict == "match" for one in found)
    return PairsAnswer(match=matches, grey=len(found) - matches, pairs=found)


@router.post("/domains/{name}/forget", status_code=204, summary="Forget pseudonyms of a list", responses=MAY_WAIT)
def forget_pseudonyms(name: DomainName, body: ForgottenPseudonyms, service: ServiceDep, actor: ActorDep) -> Response:
    """Destroy entries of a list, and so the link of their pseudonyms to people; the log proves when."""
    values = {"pseudonyms": forgetting.reserve_entries(service, actor, name, body.pseudonyms)}
    return waiting(perform(service, actor, "forget_pseudonyms", values=values)) or Response(status_code=204)


@router.post("/domains/{name}/destroy-key", status_code=204, summary="Destroy the key of a domain", responses=MAY_WAIT)
def destroy_domain_key(name: DomainName, body: DestroyedKey, service: ServiceDep, actor: ActorDep) -> Response:
    """Destroy the key of a domain, or one old version: what it made can never be resolved or made again."""
    if body.domain != name:
        raise InputError("domain: repeat the name of the domain whose key is destroyed", code="not-confirmed")
    values = {"domain": name, "key_version": body.key_version}
    return waiting(perform(service, actor, "destroy_domain_key", values=values)) or Response(status_code=204)
