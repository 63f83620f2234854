"""The description of the interface in OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from kohorte.service.permissions import RULES, Permission
from kohorte.service.web.errors import PROBLEM_SCHEMA

DESCRIPTION = """\
Anonymized tables, and SQL queries that are answered under differential privacy from a privacy budget; a patient list
and pseudonyms, with two people for every way back. A service can serve only some of these parts.

**Sign in** with `POST /api/v1/login`. It returns an access token (valid for minutes) and a refresh token (valid for
days). Send `Authorization: Bearer ACCESS_TOKEN` with every other request; on this page, use the button *Authorize*.
`POST /api/v1/refresh` exchanges a refresh token for a new pair; each can be used once.

**Errors** are `application/problem+json` with a stable `code`. An object that a caller may not see is
reported as not found.
"""
ABOUT_BODIES = ("413", "415")
TAGS = (
    ("accounts", "Sign in and out; the first data steward"),
    ("users", "Users and their roles"),
    ("datasets", "Tables, and the hierarchies of their attributes"),
    ("series", "Series: releases of growing tables over time"),
    ("risk", "The risk of re-identification in a table"),
    ("projects", "A table for a researcher: anonymized, or queried in SQL"),
    ("drafts", "Drafts of releases: review and sign-off"),
    ("rules", "The rules of the house"),
    ("surveys", "Planned surveys: how many people would be alone with their answers"),
    ("jobs", "Work in the background"),
    ("approvals", "Requests for the approval of a second person"),
    ("patients", "The patient list: one PID per person"),
    ("pseudonyms", "Domains of pseudonyms, each with its own key"),
    ("reidentification", "From pseudonyms back to what they stand for: one person asks, two others approve"),
    ("exchange", "The release check: requests of other institutions, and requests to them"),
    ("fhir", "Operations of gPAS and Vfps, for their clients"),
    ("audit", "The audit log"),
    ("health", "Health of the service, and metrics for Prometheus"),
)


def described(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return a function that describes an application, and remembers the description."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _description(app)
        return app.openapi_schema

    return openapi


def _description(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(
        title="Kohorte",
        version=app.version,
        description=DESCRIPTION,
        routes=app.routes,
        tags=[{"name": name, "description": description} for name, description in TAGS],
        servers=[{"url": "/"}],
    )
    found.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    for operations in found["paths"].values():
        for operation in operations.values():
            if RULES.get(operation["operationId"]) is Permission.ANYONE:
                operation["security"] = []
            for status in () if "requestBody" in operation else ABOUT_BODIES:
                operation["responses"].pop(status, None)
    return found
