"""Sign in and out; create the first steward."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Response
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel, ConfigDict, Field

from kohorte.service import setup_token
from kohorte.service.accounts import sessions, setup
from kohorte.service.accounts.tokens import LONGEST, refused
from kohorte.service.web.dependencies import ActorDep, ServiceDep, bearer
from kohorte.service.web.execution.signing_in import limiter
from kohorte.service.web.models.requests import Body
from kohorte.service.web.models.responses import UserAnswer
from kohorte.service.web.routes.users import CREATED, EmailAddress, Institution, Name, Password, created_user
from kohorte.trust import passwords

router = APIRouter(tags=["accounts"])


class Credentials(Body):
    """E-mail address and password."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"email_address": "user@example.com", "password": "123456"}]},
    )
    email_address: str = Field(min_length=1, max_length=254, description="The e-mail address of the user.")
    password: str = Field(
        min_length=1, max_length=passwords.LONGEST, repr=False, description="The password of the user."
    )


class RefreshRequest(Body):
    """A refresh token, unless it is sent as bearer token."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"refresh_token": "JWT"}]})
    refresh_token: str = Field(min_length=1, max_length=LONGEST, repr=False, description="The latest refresh token.")


class FirstSteward(Body):
    """The first data steward."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "token": "as printed by kohorte serve",
                    "email_address": "john@example.com",
                    "institution": "Fraunhofer IOSB",
                    "name": "John Doe",
                    "password": "three sparrows on a wire",
                }
            ]
        },
    )
    token: str = Field(
        min_length=1,
        max_length=200,
        repr=False,
        description="The set-up token printed by the first start.",
    )
    email_address: EmailAddress
    institution: Institution
    name: Name
    password: Password = Field(min_length=passwords.SHORTEST, repr=False)


class TokensAnswer(BaseModel):
    """An access token and a refresh token."""

    access_token: str = Field(
        repr=False, description="Send it with every request as `Authorization: Bearer`.", examples=["JWT"]
    )
    refresh_token: str = Field(repr=False, description="Valid once, for `POST /api/v1/refresh`.", examples=["JWT"])
    token_type: str = Field(examples=["Bearer"])
    expires_in: int = Field(description="How many seconds the access token is valid.", examples=[900])
    password_expires_at: str | None = Field(
        default=None, description="When a weak initial password, set by a steward, expires; change it before."
    )


@router.post("/setup", status_code=201, summary="Create the first data steward", responses=CREATED)
def create_first_steward(body: FirstSteward, service: ServiceDep, response: Response) -> UserAnswer:
    """Create the first data steward with the token in the file `setup-token`; it can be used once."""
    steward = setup.create_first_steward(service, **body.model_dump())
    setup_token.remove(service.settings)
    return created_user(steward, response)


@router.post("/login", summary="Sign in", response_model_exclude_none=True)
async def login(body: Credentials, service: ServiceDep) -> TokensAnswer:
    """Return an access token (15 minutes) and a refresh token (7 days).

    After five wrong passwords an address is locked for a minute, then for longer each time (429, Retry-After).
    """
    work = partial(sessions.sign_in, service, body.email_address, body.password)
    return _answer(await to_thread.run_sync(work, limiter=limiter()))


@router.post("/refresh", summary="Get new tokens", response_model_exclude_none=True)
def refresh(
    service: ServiceDep,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    body: RefreshRequest | None = None,
) -> TokensAnswer:
    """Exchange a refresh token, in the body or as bearer token, for new tokens.

    A refresh token can be used once. Reuse means that it was copied, and ends the session.
    """
    if body is not None:
        return _answer(sessions.rotate(service, body.refresh_token))
    if credentials is None:
        raise refused()
    return _answer(sessions.rotate(service, credentials.credentials))


@router.post("/logout", status_code=204, summary="Sign out")
def logout(service: ServiceDep, actor: ActorDep) -> None:
    """End the session: its tokens are no longer valid."""
    sessions.sign_out(service, actor)


def _answer(tokens: sessions.Tokens) -> TokensAnswer:
    expiry = tokens.password_expires_at
    return TokensAnswer(
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        token_type="Bearer",  # noqa: S106 - the name of the scheme
        expires_in=tokens.expires_in,
        password_expires_at=None if expiry is None else expiry.isoformat(),
    )
