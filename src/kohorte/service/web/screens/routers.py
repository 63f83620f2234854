"""All screens, by the part of the service that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from fastapi import APIRouter

from kohorte.service.parts import Part
from kohorte.service.web.screens.routes import (
    accounts,
    approvals,
    datasets,
    drafts,
    entrance,
    home,
    jobs,
    plans,
    questions,
    releases,
    static,
)

SHARED = (entrance, static, home, accounts, approvals)
SCREENS: Mapping[Part, tuple[ModuleType, ...]] = {Part.RESEARCH: (datasets, plans, drafts, releases, questions, jobs)}
"""The screens of every part; a part that is not served has none."""


def screens_of(parts: frozenset[Part]) -> list[APIRouter]:
    """Return the routes of the screens of some parts."""
    return [one.router for one in (*SHARED, *(one for part in Part if part in parts for one in SCREENS.get(part, ())))]
