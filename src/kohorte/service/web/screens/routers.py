"""All screens, by the part of the service that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from fastapi import APIRouter

from kohorte.service.parts import Part
from kohorte.service.web.screens.hierarchy import routes as hierarchy
from kohorte.service.web.screens.routes import (
    accounts,
    approvals,
    datasets,
    drafts,
    entrance,
    home,
    jobs,
    plan_curves,
    plans,
    questions,
    releases,
    series,
    static,
)
from kohorte.service.web.screens.routes.exchange import asking, checks, knowledge, requests
from kohorte.service.web.screens.routes.risks import dashboard, explorer
from kohorte.service.web.screens.routes.trust import cases, domains, histories, registration
from kohorte.service.web.screens.routes.way_back import listing, people, pseudonyms
from kohorte.service.web.screens.survey import routes as survey

SHARED = (entrance, static, home, accounts, approvals)
SCREENS: Mapping[Part, tuple[ModuleType, ...]] = {
    Part.RESEARCH: (
        datasets,
        plans,
        plan_curves,
        hierarchy,
        explorer,
        dashboard,
        drafts,
        releases,
        series,
        questions,
        survey,
        jobs,
    ),
    Part.PATIENTS: (cases, registration, histories, people, listing),
    Part.PSEUDONYMS: (domains, pseudonyms, listing),
    Part.EXCHANGE: (requests, checks, asking, knowledge),
}
"""The screens of every part; a part that is not served has none, and one that two parts share is served with either."""


def screens_of(parts: frozenset[Part]) -> list[APIRouter]:
    """Return the routes of the screens of some parts."""
    found = (*SHARED, *(one for part in Part if part in parts for one in SCREENS.get(part, ())))
    return [one.router for one in dict.fromkeys(found)]
