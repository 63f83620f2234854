"""The users of the service."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints
from sqlalchemy import Row

from kohorte.service.accounts import passwords, users
from kohorte.service.accounts.addresses import LONGEST, SYNTAX
from kohorte.service.web.answers import JANE, UserAnswer
from kohorte.service.web.bodies import Body
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep

router = APIRouter(tags=["users"])
NAME = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$"
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"description": "Where the user is.", "schema": {"type": "string"}}}}
}

EmailAddress = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=SYNTAX, max_length=LONGEST),
    Field(description="The e-mail address of the user; capital letters do not matter."),
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
        description="At least 12 characters. One that a steward sets for somebody else needs 6 characters, "
        "and if it is a weak one it expires after 72 hours."
    ),
]
Privileged = Annotated[StrictBool, Field(description="Whether the user is a data steward.")]


class NewUser(Body):
    """A user to create."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**JANE, "password": "123456"}]})
    email_address: EmailAddress
    institution: Institution
    name: Name
    password: Password = Field(repr=False)
    privileged_status: Privileged


class UserChange(Body):
    """What shall change; what is left out stays."""

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
        default=None, max_length=passwords.LONGEST, repr=False, description="Needed to change one's own password."
    )
    privileged_status: Privileged | None = None
    disabled: StrictBool | None = Field(default=None, description="Whether the user is kept from signing in.")


class UsersAnswer(BaseModel):
    """A page of users."""

    users: list[UserAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[1])


@router.post("/users", status_code=201, summary="Create a user", responses=CREATED)
def create_user(body: NewUser, service: ServiceDep, actor: ActorDep, response: Response) -> UserAnswer:
    """Create a data steward (`privileged_status`) or a researcher."""
    row = users.create(
        service,
        email_address=body.email_address,
        name=body.name,
        institution=body.institution,
        password=body.password,
        privileged=body.privileged_status,
        by=actor.user_id,
    )
    return created_user(row, response)


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
    """Return a user: stewards see all, researchers themselves."""
    return _answer(users.shown(service, actor, user_id))


@router.patch("/users/{user_id:int}", summary="Change a user")
def change_user(user_id: Number, body: UserChange, service: ServiceDep, actor: ActorDep) -> UserAnswer:
    """Change a user: stewards everything, researchers their own name, institution and password.

    A new password ends the other sessions of the user.
    """
    given = body.model_dump()
    given["privileged"] = given.pop("privileged_status")
    return _answer(users.change(service, actor, user_id, users.Changes(**given)))


@router.delete("/users/{user_id:int}", status_code=204, summary="Delete a user")
def delete_user(user_id: Number, service: ServiceDep, actor: ActorDep) -> None:
    """Delete a user and end the sessions; the last data steward has to stay."""
    users.delete(service, actor, user_id)


def created_user(row: Row[Any], response: Response) -> UserAnswer:
    """Return a new user, and say where it is."""
    response.headers["Location"] = f"/api/v1/users/{row.id}"
    return _answer(row)


def _answer(row: Row[Any]) -> UserAnswer:
    return UserAnswer(**users.user_to_dict(row))
