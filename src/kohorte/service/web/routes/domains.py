"""Domains of pseudonyms: texts come in bodies, never in URLs, because URLs are logged."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from kohorte.pseudonyms.domains import definition_of
from kohorte.service.trust import domains
from kohorte.service.web.dependencies import ActorDep, ServiceDep
from kohorte.service.web.models.trust import DomainAnswer, DomainsAnswer, NewDomain, Originals, PseudonymsAnswer

router = APIRouter(tags=["pseudonyms"])
DomainName = Annotated[str, Path(min_length=1, max_length=100, description="The name of a domain.")]
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"description": "The URL of the domain.", "schema": {"type": "string"}}}}
}


@router.post("/domains", status_code=201, summary="Make a domain", responses=CREATED)
def create_domain(body: NewDomain, service: ServiceDep, actor: ActorDep, response: Response) -> DomainAnswer:
    """Make a domain with a new key, which stays in the folder of the service."""
    made = domains.create(service, actor, definition_of(**body.model_dump()))
    response.headers["Location"] = f"/api/v1/domains/{made.name}"
    return DomainAnswer(**made.figures)


@router.get("/domains", summary="List the domains")
def list_domains(service: ServiceDep) -> DomainsAnswer:
    """Return the definitions of all domains, without keys."""
    return DomainsAnswer(domains=[DomainAnswer(**one.figures) for one in domains.listed(service)])


@router.get("/domains/{name}", summary="Show a domain")
def show_domain(name: DomainName, service: ServiceDep) -> DomainAnswer:
    """Return the definition of a domain, without its key."""
    return DomainAnswer(**domains.shown(service, name).figures)


@router.post("/domains/{name}/rotate-key", summary="Rotate the key of a domain")
def rotate_domain_key(name: DomainName, service: ServiceDep, actor: ActorDep) -> DomainAnswer:
    """Give a domain a new version of its key; what older versions made stays resolvable."""
    return DomainAnswer(**domains.rotate_key(service, actor, name).figures)


@router.post("/domains/{name}/pseudonyms", summary="Pseudonymize texts")
def pseudonymize(name: DomainName, body: Originals, service: ServiceDep, actor: ActorDep) -> PseudonymsAnswer:
    """Return the pseudonyms of texts; the answer does not tell whether a text was known."""
    found = domains.pseudonymize(service, actor, name, body.originals, key_version=body.key_version)
    return PseudonymsAnswer(domain=name, key_version=found.key_version, pseudonyms=found.pseudonyms)
