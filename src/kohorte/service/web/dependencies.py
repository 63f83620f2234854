"""What routes ask for: the service, and who is calling."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from kohorte.service.access import RULES, Actor, Who, permit
from kohorte.service.accounts.tokens import authenticate
from kohorte.service.context import Service
from kohorte.service.settings import Settings
from kohorte.service.web.rate_limits import RateLimits

LARGEST_NUMBER = 2**31 - 1
bearer = HTTPBearer(auto_error=False, description="The access token that POST /api/v1/login answers with.")


async def given_service(request: Request) -> Service:
    """Return the service to a route; `async`, so that no thread is needed for it."""
    return service_of(request)


def service_of(request: Request) -> Service:
    """Return the service that the application serves."""
    service: Service = request.app.state.service
    return service


def authorize(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)] = None
) -> None:
    """Find out who is calling and refuse what the rules of `access` do not permit; runs before every route.

    Figures are also for whoever brings the metrics token of the settings, which opens nothing else. Where anyone may
    call, a token is not looked at: it may well be over.
    """
    operation = request.scope["route"].name
    limits: RateLimits = request.app.state.limits
    limits.count_operation(request.scope, operation)
    request.state.actor = None
    token = credentials.credentials if credentials is not None else None
    if operation == "show_metrics" and is_metrics_token(service_of(request).settings, token):
        return
    if token is not None and RULES.get(operation) is not Who.ANYONE:
        request.state.actor = authenticate(service_of(request), token)
        limits.count_user(request.state.actor.user_id)
    permit(operation, request.state.actor)


def is_metrics_token(settings: Settings, token: str | None) -> bool:
    """Whether a token is that of the settings; if they have none, no token is."""
    known = settings.metrics_token.encode()
    return bool(known) and hmac.compare_digest((token or "").encode(errors="replace"), known)


async def actor_of(request: Request) -> Actor:
    """Return who is calling a route that is not for anyone."""
    actor: Actor = request.state.actor
    return actor


ServiceDep = Annotated[Service, Depends(given_service)]
ActorDep = Annotated[Actor, Depends(actor_of)]
Number = Annotated[int, Path(ge=1, le=LARGEST_NUMBER)]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_NUMBER // 1000, description="Which page, from 1.")]
