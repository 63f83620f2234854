"""TempIDs of the patient list, for users of the service: sources get them, and recipients resolve them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kohorte.errors import AccessDenied, InputError
from kohorte.patients.temp_ids import MINUTES, TempIds
from kohorte.service.access import Actor
from kohorte.service.accounts.origins import usable_with
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER
from kohorte.service.permissions import Permission
from kohorte.service.trust import limits, patients
from kohorte.service.trust.folders import name_of, note
from kohorte.service.trust.patients import ABOUT, patient_list


def issue(
    service: Service, actor: Actor, pids: Sequence[str | None], *, recipient: int, minutes: int
) -> list[str | None]:
    """Make TempIDs of known PIDs that only the account of the recipient can resolve."""
    limits.count(service, actor, len(pids))
    return _issued(service, actor, pids, recipient=recipient, minutes=minutes)


def _issued(
    service: Service, actor: Actor, pids: Sequence[str | None], *, recipient: int, minutes: int
) -> list[str | None]:
    _refuse_recipient(service, actor, recipient)
    with patient_list(service, actor) as known:
        tokens = TempIds(known).issue(pids, target=_account(recipient), minutes=minutes)
    note(service, actor, "issue-temp-ids", ABOUT, count=len(tokens))
    return tokens


def register(
    service: Service, actor: Actor, people: Sequence[Mapping[str, str]], *, recipient: int | None
) -> list[dict[str, str | None]]:
    """Register people; with a recipient the caller gets TempIDs and never learns a PID.

    A source that gets PIDs could send two descriptions and learn from equal ones that somebody in the list joins them.
    It therefore gets TempIDs, unless the settings of the service say otherwise.
    """
    if recipient is None:
        if not (service.settings.sources_get_pids or actor.may(Permission.MANAGE_PATIENTS)):
            raise AccessDenied(
                "temp_ids_for: sources get TempIDs here; name the account that may resolve them", code="temp-id-only"
            )
        return patients.register(service, actor, people)
    _refuse_recipient(service, actor, recipient)
    found = patients.register(service, actor, people)
    tokens = _issued(service, actor, [one["pid"] for one in found], recipient=recipient, minutes=MINUTES)
    return [one | {"pid": None, "temp_id": token} for one, token in zip(found, tokens, strict=True)]


def resolve(service: Service, actor: Actor, tokens: Sequence[str]) -> list[str]:
    """Turn TempIDs that were made for this account into PIDs, once."""
    limits.count(service, actor, len(tokens))
    with patient_list(service, actor) as known:
        pids = TempIds(known).resolve(tokens, target=name_of(actor))
    note(service, actor, "resolve-temp-ids", ABOUT, count=len(pids))
    return pids


def _refuse_recipient(service: Service, actor: Actor, number: int) -> None:
    """Refuse a recipient that could not resolve TempIDs, or is the caller, with the same words for all reasons."""
    with service.database.reading() as connection:
        known = {row.id: row for row in usable_with(connection, Permission.RESOLVE_TEMP_IDS)}
        if number not in known or number == actor.user_id:
            raise InputError(
                "the recipient of TempIDs is another account, with the role recipient", code="temp-id-recipient"
            )
        service.guard.checked(connection, USER, known[number])


def _account(number: int) -> str:
    """How a TempID names its recipient: as logs name the user."""
    return f"user {number}"
