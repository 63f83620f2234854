"""The actions that can need two people, each as a function that works inside a transaction.

To add one, add an entry to `ACTIONS` and a name to `permissions.TWO_PEOPLE`. The function only checks permissions and
changes rows: before a request is stored, the action is tried and rolled back, and after a second person has confirmed
it, it runs in the transaction that marks the request as carried out. What cannot be rolled back, such as removing
files, belongs in `Outcome.afterwards`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection

from kohorte.service.access import Actor
from kohorte.service.accounts import users
from kohorte.service.context import Service
from kohorte.service.datasets import records
from kohorte.service.permissions import Permission
from kohorte.service.projects import released_files, store
from kohorte.service.projects.ruled_projects import refuse_broken
from kohorte.service.trust import forgetting


@dataclass(frozen=True)
class Call:
    """An action requested by an actor; `values` are its prepared arguments, such as the hash of a new password.

    `subject_id` is 0 if the action creates the object.
    """

    service: Service
    actor: Actor
    operation: str
    subject_id: int = 0
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def action(self) -> Action:
        """The action that is called."""
        return ACTIONS[self.operation]


@dataclass(frozen=True)
class Outcome:
    """The result of a call: the row that the interface shows, and what to do after the transaction.

    If the action needs a second person: the stored request for approval instead.
    """

    row: Any = None
    afterwards: Callable[[], object] | None = None
    approval: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Action:
    """One action: the kind of its object, and how it is carried out.

    An action that `opens` changes nothing. Once a second person has confirmed it, everyone who has the permission may
    perform it on this object.
    """

    subject_kind: str
    carry_out: Callable[[Call, Connection], Outcome]
    opens: bool = False


def _create_user(call: Call, connection: Connection) -> Outcome:
    return Outcome(users.add(call.service, connection, call.values, by=call.actor.user_id))


def _change_user(call: Call, connection: Connection) -> Outcome:
    call.actor.refuse_without(Permission.MANAGE_USERS)
    return Outcome(users.apply(call.service, connection, call.subject_id, call.values, by=call.actor))


def _delete_user(call: Call, connection: Connection) -> Outcome:
    users.remove(call.service, connection, call.actor, call.subject_id)
    return Outcome()


def _delete_dataset(call: Call, connection: Connection) -> Outcome:
    return Outcome(afterwards=records.remove(call.service, connection, call.actor, call.subject_id))


def _delete_project(call: Call, connection: Connection) -> Outcome:
    return Outcome(afterwards=store.remove(call.service, connection, call.actor, call.subject_id))


def _open_release(call: Call, connection: Connection) -> Outcome:
    project = released_files.releasing_project(
        call.service, connection, call.actor, call.subject_id, evidence_only=False
    )
    refuse_broken(call.service, project)
    return Outcome(project)


def _forget_patient(call: Call, connection: Connection) -> Outcome:
    forget = forgetting.prepare(call.service, connection, call.actor, call.values["patient"])
    return Outcome(afterwards=forget)


ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "create_user": Action("user", _create_user),
        "change_user": Action("user", _change_user),
        "delete_user": Action("user", _delete_user),
        "delete_dataset": Action("dataset", _delete_dataset),
        "delete_project": Action("project", _delete_project),
        "download_csv": Action("project", _open_release, opens=True),
        "forget_patient": Action("patient", _forget_patient),
    }
)
