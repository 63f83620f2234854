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

from kohorte.service.access import Actor, found_or_refused, roles_of
from kohorte.service.accounts import users
from kohorte.service.context import Service
from kohorte.service.datasets import records
from kohorte.service.integrity.marks import USERS
from kohorte.service.permissions import GRANTED_BY_TWO, Permission, Role
from kohorte.service.projects import released_files, store
from kohorte.service.projects.ruled_projects import refuse_broken
from kohorte.service.storage.schema import users as accounts
from kohorte.service.trust import forgetting


@dataclass(frozen=True)
class Call:
    """An action requested by an actor; `values` are its prepared arguments, such as the hash of a new password.

    `subject_id` is 0 if the action creates the object; `second` is the person who confirmed the action, if any.
    """

    service: Service
    actor: Actor
    operation: str
    subject_id: int = 0
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    second: int | None = None

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
    perform it on this object. `guarded` tells whether a call needs two people who are independent of each other,
    whatever the settings say.
    """

    subject_kind: str
    carry_out: Callable[[Call, Connection], Outcome]
    opens: bool = False
    guarded: Callable[[Call, Connection], bool] = lambda *_: False


def _create_user(call: Call, connection: Connection) -> Outcome:
    return Outcome(users.add(call.service, connection, call.values, by=call.actor.user_id, second=call.second))


def _creates_power(call: Call, connection: Connection) -> bool:
    """Whether a new user would get a role that nobody grants alone."""
    del connection
    return call.service.settings.serves_way_back and not GRANTED_BY_TWO.isdisjoint(map(Role, call.values["roles"]))


def _changes_power(call: Call, connection: Connection) -> bool:
    """Whether a change grants such a role, or would let the caller act as somebody who has one.

    Also whether it silences a data protection officer: nobody alone decides who is told about the way back.
    """
    if not call.service.settings.serves_way_back:
        return False
    row = found_or_refused(connection.execute(USERS.where(accounts.c.id == call.subject_id)).one_or_none(), "user")
    before = roles_of(row) & GRANTED_BY_TWO
    after = frozenset(map(Role, call.values["roles"])) & GRANTED_BY_TWO if "roles" in call.values else before
    enables = "disabled_at" in call.values and call.values["disabled_at"] is None
    proves = not call.values.keys().isdisjoint(("password_hash", "certificate_fingerprint", "email_address"))
    own = call.subject_id == call.actor.user_id
    silenced = not own and Role.DATA_PROTECTION_OFFICER in roles_of(row) and (proves or _ends_officer(call.values))
    return silenced or bool(after - before) or (bool(before | after) and not own and (enables or proves))


def _ends_officer(values: Mapping[str, Any]) -> bool:
    """Whether a data protection officer would be none any more."""
    kept = map(str, values.get("roles", (Role.DATA_PROTECTION_OFFICER,)))
    return Role.DATA_PROTECTION_OFFICER not in kept or values.get("disabled_at") is not None


def _removes_officer(call: Call, connection: Connection) -> bool:
    """Whether a data protection officer, who is told about the way back, would be deleted by somebody else."""
    row = found_or_refused(connection.execute(USERS.where(accounts.c.id == call.subject_id)).one_or_none(), "user")
    own = call.subject_id == call.actor.user_id
    return call.service.settings.serves_way_back and not own and Role.DATA_PROTECTION_OFFICER in roles_of(row)


def _change_user(call: Call, connection: Connection) -> Outcome:
    call.actor.refuse_without(Permission.MANAGE_USERS)
    return Outcome(_changed(call, connection))


def _changed(call: Call, connection: Connection) -> Any:
    return users.apply(call.service, connection, call.subject_id, call.values, by=call.actor, second=call.second)


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


def _forget_pseudonyms(call: Call, connection: Connection) -> Outcome:
    forget = forgetting.prepare_entries(call.service, connection, call.actor, call.values["pseudonyms"])
    return Outcome(afterwards=forget)


def _destroy_domain_key(call: Call, connection: Connection) -> Outcome:
    domain, version = call.values["domain"], call.values["key_version"]
    return Outcome(afterwards=forgetting.prepare_key(call.service, connection, call.actor, domain, version))


ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "create_user": Action("user", _create_user, guarded=_creates_power),
        "change_user": Action("user", _change_user, guarded=_changes_power),
        "delete_user": Action("user", _delete_user, guarded=_removes_officer),
        "delete_dataset": Action("dataset", _delete_dataset),
        "delete_project": Action("project", _delete_project),
        "download_csv": Action("project", _open_release, opens=True),
        "forget_patient": Action("patient", _forget_patient),
        "forget_pseudonyms": Action("domain", _forget_pseudonyms),
        "destroy_domain_key": Action("domain", _destroy_domain_key),
    }
)
