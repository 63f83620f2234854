"""Errors as problem details for clients: HTTP status, code and message (RFC 9457)."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from kohorte.errors import (
    AccessDenied,
    BudgetExceeded,
    EngineError,
    InputError,
    InternalError,
    KohorteError,
    NoSolution,
    PrivacyViolation,
)

BY_ENDING = {
    "-too-large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "-conflict": HTTPStatus.CONFLICT,
    "-content-type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}
BY_CODE = {
    "not-signed-in": HTTPStatus.UNAUTHORIZED,
    "login-failed": HTTPStatus.UNAUTHORIZED,
    "password-expired": HTTPStatus.UNAUTHORIZED,
    "not-found": HTTPStatus.NOT_FOUND,
    "too-many-requests": HTTPStatus.TOO_MANY_REQUESTS,
    "too-many-texts": HTTPStatus.TOO_MANY_REQUESTS,
    "locked-out": HTTPStatus.TOO_MANY_REQUESTS,
}
BY_INPUT = {
    "pseudonym-domain-exists": HTTPStatus.CONFLICT,
    "patients-case-decided": HTTPStatus.CONFLICT,
    "patients-same-person": HTTPStatus.CONFLICT,
    "patients-case": HTTPStatus.NOT_FOUND,
    "patients-pid-unknown": HTTPStatus.NOT_FOUND,
    "patients-pid-forgotten": HTTPStatus.NOT_FOUND,
    "consent-export-unknown": HTTPStatus.NOT_FOUND,
    "exchange-answered": HTTPStatus.CONFLICT,
    "exchange-undecided": HTTPStatus.CONFLICT,
    "exchange-unchecked": HTTPStatus.CONFLICT,
    "exchange-no-draft": HTTPStatus.CONFLICT,
    "exchange-check-changed": HTTPStatus.CONFLICT,
    "exchange-request-changed": HTTPStatus.CONFLICT,
    "exchange-request-expired": HTTPStatus.CONFLICT,
    "exchange-identity": HTTPStatus.CONFLICT,
    "exchange-peer-exists": HTTPStatus.CONFLICT,
}
BY_ENGINE = dict.fromkeys(
    (
        "service-row-changed",
        "service-database-older",
        "service-state-log",
        "service-trust-folder",
        "trust-house-lost",
        "trust-house-failed",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE,
)
BY_CLASS: tuple[tuple[type[KohorteError], HTTPStatus], ...] = (
    (BudgetExceeded, HTTPStatus.FORBIDDEN),
    (NoSolution, HTTPStatus.UNPROCESSABLE_ENTITY),
    (PrivacyViolation, HTTPStatus.CONFLICT),
)
HOUSE_RULE = "house-rule"
FAILED = "an internal failure; the code and the request id help the operator of the service to find the cause"


def status_of(error: KohorteError) -> HTTPStatus:
    """Return the HTTP status of an error."""
    if isinstance(error, AccessDenied):
        return BY_CODE.get(error.code, HTTPStatus.FORBIDDEN)
    if isinstance(error, InputError):
        endings = (status for ending, status in BY_ENDING.items() if error.code.endswith(ending))
        return BY_INPUT.get(error.code) or next(endings, HTTPStatus.BAD_REQUEST)
    if isinstance(error, EngineError):
        return BY_ENGINE.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR)
    classes = (status for kind, status in BY_CLASS if isinstance(error, kind))
    return next(classes, HTTPStatus.INTERNAL_SERVER_ERROR)


def problem_of(error: KohorteError) -> dict[str, Any]:
    """Return the problem details of an error; for failures inside the service only the code."""
    hidden = isinstance(error, EngineError | InternalError)
    told = problem(status_of(error), code=error.code, detail=FAILED if hidden else error.message)
    rule = {"rule": error.field} if error.code == HOUSE_RULE else {}
    return told | rule | (dict(error.figures) if isinstance(error, BudgetExceeded) else {})


def problem(status: int, *, code: str, detail: str, errors: Sequence[dict[str, str]] = ()) -> dict[str, Any]:
    """Return problem details; `errors` name positions in a request, and what is wrong there."""
    told = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
    }
    return told | ({"errors": list(errors)} if errors else {})
