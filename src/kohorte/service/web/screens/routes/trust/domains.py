"""The domains of pseudonyms: what each is, without keys."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.pseudonyms.kinds.reference_list import ReferenceList
from kohorte.service.trust import domains
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/pseudonyms"


@router.get(LIST, name="screen_domains")
def domains_page(visitor: Annotated[Visitor, Allowed("list_domains")]) -> Response:
    """List the domains; trustees also see how full lists are."""
    found: list[dict[str, Any]] = domains.listed(visitor.service)
    for one in found:
        fills = one["kind"] == ReferenceList.name and visitor.may("show_domain")
        one["filled"] = domains.filled(visitor.service, visitor.actor, one["name"]) if fills else None
    return visitor.page("trust/domains.html.j2", domains=found)
