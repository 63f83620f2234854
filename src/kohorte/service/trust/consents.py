"""Consents and exports of the patient list, for users of the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kohorte.patients.consents.filtering import Purpose, note_people
from kohorte.patients.consents.register import Consents
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.permissions import Permission
from kohorte.service.trust import limits
from kohorte.service.trust.folders import note
from kohorte.service.trust.patients import ABOUT, patient_list


def give(
    service: Service,
    actor: Actor,
    pids: Sequence[str],
    purposes: Sequence[str],
    *,
    categories: Sequence[str],
    start: str | None,
    until: str | None,
) -> int:
    """Note that people agreed; return how many."""
    limits.count(service, actor, len(pids))
    with patient_list(service, actor) as patients:
        people = Consents(patients).give(pids, purposes, categories=categories, start=start, until=until)
    note(service, actor, "give-consent", ABOUT, people=people)
    return people


def withdraw(service: Service, actor: Actor, pid: str, purposes: Sequence[str]) -> dict[str, Any]:
    """Take the consents of a person back; return the exports that were made before."""
    limits.count(service, actor, 1)
    with patient_list(service, actor) as patients:
        released = Consents(patients).withdraw(pid, purposes)
    note(service, actor, "withdraw-consent", ABOUT)
    return released.to_dict()


def show(service: Service, actor: Actor, pid: str) -> dict[str, Any]:
    """Return the consents of a person with their history, also as FHIR resources."""
    limits.count(service, actor, 1)
    with patient_list(service, actor) as patients:
        consents = Consents(patients)
        found, now = consents.show(pid), consents.now
    note(service, actor, "read-consents", ABOUT)
    return found.to_dict(now) | {"fhir": [consent.to_fhir(found.pid, now) for consent in found.consents]}


def released(service: Service, actor: Actor, pid: str) -> dict[str, Any]:
    """Return the exports that a person was in."""
    limits.count(service, actor, 1)
    with patient_list(service, actor) as patients:
        found = Consents(patients).released(pid)
    note(service, actor, "read-exports", ABOUT)
    return found.to_dict()


def export(
    service: Service,
    actor: Actor,
    pids: Sequence[str] | None,
    *,
    purpose: str,
    project: str,
    categories: Sequence[str] = (),
) -> tuple[int, list[dict[str, Any]]]:
    """Note an export to a project; return its number and the people who agreed, with the kinds of data.

    Only people who may see the list can ask for everybody; others learn nothing about PIDs that they do not have.
    """
    if pids is None:
        actor.refuse_without(Permission.MANAGE_PATIENTS)
    wish = Purpose(purpose, project)
    limits.count(service, actor, len(pids or ()))
    with patient_list(service, actor) as patients:
        number, people = note_people(Consents(patients), wish, pids, categories=categories)
    note(service, actor, "export-patients", f"export {number}", people=len(people))
    kinds = {pid: None if one.categories is None else sorted(one.categories) for pid, one in people.items()}
    return number, [{"pid": pid, "categories": kinds[pid]} for pid in sorted(kinds)]


def confirm_asked(service: Service, actor: Actor, number: int) -> int:
    """Check an export for somebody who asks: people who may not see the list can ask about their own exports."""
    return confirm(service, actor, number, only_own=not actor.may(Permission.MANAGE_PATIENTS))


def confirm(service: Service, actor: Actor, number: int, *, only_own: bool = False) -> int:
    """Check that everybody in an export is still covered; return how many people it has."""
    with patient_list(service, actor) as patients:
        people = Consents(patients).confirm(number, only_own=only_own)
    note(service, actor, "confirm-export", f"export {number}", people=people)
    return people
