"""The users of the service."""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, model_validator
from sqlalchemy import Row
from starlette.responses import JSONResponse

from kohorte.service.accounts import certificates, users
from kohorte.service.accounts.addresses import LONGEST, SYNTAX
from kohorte.service.approvals.requests import perform
from kohorte.service.permissions import Role
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.models.requests import Body
from kohorte.service.web.models.responses import JANE, UserAnswer
from kohorte.service.web.routes.approvals import MAY_WAIT, waiting
from kohorte.trust import passwords

router = APIRouter(tags=["users"])
NAME = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$"
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"description": "The URL of the user.", "schema": {"type": "string"}}}}
}

EmailAddress = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=SYNTAX, max_length=LONGEST),
    Field(description="The e-mail address of the user; case does not matter."),
]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=NAME, min_length=1, max_length=users.LONGEST_TEXT),
    Field(description="The name of the user."),
]
Institution = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=users.TEXT, max_length=users.LONGEST_TEXT),
    Field(description="The institution that the user belongs to."),
]
Password = Annotated[
    str,
    StringConstraints(min_length=passwords.SHORTEST_INITIAL, max_length=passwords.LONGEST),
    Field(
        description="At least 12 characters. A password that a steward sets for another user needs 6 characters, "
        "and expires after 72 hours if it is weak."
    ),
]
Certificate = Annotated[
    str,
    StringConstraints(min_length=1, max_length=certificates.LONGEST),
    Field(description="The certificate of another service in PEM, instead of a password."),
]
Privileged = Annotated[
    StrictBool, Field(description="Whether the user is a steward; without `roles`, other users are researchers.")
]
Roles = Annotated[
    list[Role], Field(fail_fast=True, min_length=1, max_length=len(Role), description="All roles of the user.")
]


class NewUser(Body):
    """A user to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**JANE, "password": "123456"}]})
    email_address: EmailAddress
    institution: Institution
    name: Name
    password: Password | None = Field(default=None, repr=False)
    certificate: Certificate | None = None
    privileged_status: Privileged | None = None
    roles: Roles | None = None

    @model_validator(mode="after")
    def _has_a_role_and_a_proof(self) -> Self:
        if self.privileged_status is None and self.roles is None:
            raise ValueError("privileged_status or roles is missing")
        if (self.password is None) == (self.certificate is None):
            raise ValueError("give a password, or a certificate")
        return self


class UserChange(Body):
    """The changes; omitted fields stay as they are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"institution": "Fraunhofer IOSB"},
                {"password": "three sparrows on a wire", "current_password": "123456"},
                {"disabled": True},
            ]
        },
    )
    email_address: EmailAddress | None = None
    institution: Institution | None = None
    name: Name | None = None
    password: Password | None = Field(default=None, repr=False)
    current_password: str | None = Field(
        default=None, max_length=passwords.LONGEST, repr=False, description="Required to change your own password."
    )
    privileged_status: Privileged | None = None
    roles: Roles | None = None
    certificate: Certificate | None = None
    disabled: StrictBool | None = Field(default=None, description="Whether the user may not sign in.")


class UsersAnswer(BaseModel):
    """A page of users."""

    users: list[UserAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[1])


@router.post(
    "/users", status_code=201, summary="Create a user", response_model=UserAnswer, responses={**CREATED, **MAY_WAIT}
)
def create_user(body: NewUser, service: ServiceDep, actor: ActorDep, response: Response) -> UserAnswer | JSONResponse:
    """Create a user with `roles`, or a steward or researcher according to `privileged_status`."""
    wanted = users.Changes(
        body.email_address,
        body.name,
        body.institution,
        body.privileged_status,
        roles=body.roles,
        certificate=body.certificate,
    )
    outcome = perform(service, actor, "create_user", values=users.prepared(wanted, body.password, strong=False))
    return waiting(outcome) or created_user(outcome.row, response)


@router.get("/users", summary="List the users")
def list_users(service: ServiceDep, limit: Limit = 20, page: PageNumber = 1) -> UsersAnswer:
    """Return a page of the users, in the order of their ids."""
    rows, total = users.listed(service, limit=limit, page=page)
    return UsersAnswer(users=[_answer(row) for row in rows], limit=limit, page=page, total=total)


@router.get("/users/me", summary="Show who is signed in")
def show_me(service: ServiceDep, actor: ActorDep) -> UserAnswer:
    """Return the user whose token was sent."""
    return _answer(users.shown(service, actor, actor.user_id))


@router.get("/users/{user_id:int}", summary="Show a user")
def show_user(user_id: Number, service: ServiceDep, actor: ActorDep) -> UserAnswer:
    """Return a user: stewards and data protection officers see all users, others only themselves."""
    return _answer(users.shown(service, actor, user_id))


@router.patch("/users/{user_id:int}", summary="Change a user", response_model=UserAnswer, responses=MAY_WAIT)
def change_user(user_id: Number, body: UserChange, service: ServiceDep, actor: ActorDep) -> UserAnswer | JSONResponse:
    """Change a user: stewards everything, others their own name, institution and password.

    A new password ends the other sessions of the user.
    """
    given = body.model_dump()
    given["privileged"] = given.pop("privileged_status")
    changes = users.Changes(**given)
    if user_id == actor.user_id and not changes.of_others_only:
        return _answer(users.change(service, actor, user_id, changes))
    values = users.planned(service, actor, user_id, changes)
    if not values:
        return _answer(users.shown(service, actor, user_id))
    outcome = perform(service, actor, "change_user", user_id, values)
    return waiting(outcome) or _answer(outcome.row)


@router.delete("/users/{user_id:int}", status_code=204, summary="Delete a user", responses=MAY_WAIT)
def delete_user(user_id: Number, service: ServiceDep, actor: ActorDep) -> Response:
    """Delete a user and end their sessions; the last data steward cannot be deleted."""
    return waiting(perform(service, actor, "delete_user", user_id)) or Response(status_code=204)


def created_user(row: Row[Any], response: Response) -> UserAnswer:
    """Return a new user and its location."""
    response.headers["Location"] = f"/api/v1/users/{row.id}"
    return _answer(row)


def _answer(row: Row[Any]) -> UserAnswer:
    return UserAnswer(**users.user_to_dict(row))
