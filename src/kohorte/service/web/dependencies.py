"""Dependencies of routes: the service and the caller."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from kohorte.service.access import Actor, permit
from kohorte.service.accounts.certificates import authenticate_certificate
from kohorte.service.accounts.tokens import authenticate
from kohorte.service.context import Service
from kohorte.service.permissions import RULES, Permission
from kohorte.service.settings import Settings
from kohorte.service.web.basic_credentials import basic_actor
from kohorte.service.web.client_certificates import presented
from kohorte.service.web.middleware.rate_limits import RateLimits

LARGEST_NUMBER = 2**31 - 1
bearer = HTTPBearer(auto_error=False, description="The access token from POST /api/v1/login.")


async def given_service(request: Request) -> Service:
    """Return the service to a route; `async`, so that it needs no thread."""
    return service_of(request)


def service_of(request: Request) -> Service:
    """Return the service that the application serves."""
    service: Service = request.app.state.service
    return service


def authorize(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)] = None,
    basic: Annotated[Actor | None, Depends(basic_actor)] = None,
) -> None:
    """Authenticate the caller and refuse what the rules of `permissions` do not permit; runs before every route.

    A request without a token may come from another service with a pinned certificate, or from a client of gPAS or Vfps
    with Basic credentials, which only their operations accept. The metrics token of the settings gives access to the
    metrics only. For operations that anyone may call, a token is ignored, because it may have expired.
    """
    operation = request.scope["route"].name
    limits: RateLimits = request.app.state.limits
    limits.count_operation(request.scope, operation)
    request.state.actor = basic
    token = credentials.credentials if credentials is not None else None
    if operation == "show_metrics" and is_metrics_token(service_of(request).settings, token):
        return
    certificate = presented(request.scope)
    signed = basic is None and (token is not None or certificate is not None)
    if signed and RULES.get(operation) is not Permission.ANYONE:
        request.state.actor = _actor(service_of(request), token, certificate)
    if request.state.actor is not None:
        limits.count_user(request.state.actor.user_id)
    permit(operation, request.state.actor)


def _actor(service: Service, token: str | None, certificate: str | None) -> Actor:
    """The caller by token or, only if there is none, by certificate: a wrong token is refused in any case."""
    if token is None and certificate is not None:
        return authenticate_certificate(service, certificate)
    return authenticate(service, token or "")


def is_metrics_token(settings: Settings, token: str | None) -> bool:
    """Whether a token is the metrics token of the settings; false if they have none."""
    known = settings.metrics_token.encode()
    return bool(known) and hmac.compare_digest((token or "").encode(errors="replace"), known)


async def actor_of(request: Request) -> Actor:
    """Return the caller of a route that requires sign-in."""
    actor: Actor = request.state.actor
    return actor


ServiceDep = Annotated[Service, Depends(given_service)]
ActorDep = Annotated[Actor, Depends(actor_of)]
Number = Annotated[int, Path(ge=1, le=LARGEST_NUMBER)]
Limit = Annotated[int, Query(ge=1, le=1000, description="Entries per page.")]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_NUMBER // 1000, description="Page number, from 1.")]
