"""The description of the interface in OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from kohorte.service.access import RULES, Who
from kohorte.service.web.errors import PROBLEM_SCHEMA

DESCRIPTION = """\
Share the cohort, not the patients: anonymized tables, and questions that are answered with noise from a budget.

**Sign in** with `POST /api/v1/login`. It answers with an access token (short) and a refresh token (longer). Send
`Authorization: Bearer ACCESS_TOKEN` with every other request; on this page, give the token to the button *Authorize*.
`POST /api/v1/refresh` exchanges a refresh token for a new pair; each can be used once.

**Errors** are `application/problem+json` with a stable `code`. What a caller may not see looks like what is not there.
"""
ABOUT_BODIES = ("413", "415")
TAGS = (
    ("accounts", "Signing in and out; the first data steward"),
    ("users", "Data stewards and researchers"),
    ("datasets", "Tables, and the hierarchies of their attributes"),
    ("risk", "How likely people are found in a table"),
    ("projects", "A table for a researcher: anonymized, or to be asked in SQL"),
    ("jobs", "Work that takes longer"),
    ("audit", "Who did what"),
    ("health", "Whether the service works, and figures for Prometheus"),
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
            if RULES.get(operation["operationId"]) is Who.ANYONE:
                operation["security"] = []
            for status in () if "requestBody" in operation else ABOUT_BODIES:
                operation["responses"].pop(status, None)
    return found
