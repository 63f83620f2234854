"""End the link to people for good: forget a patient, entries of a list, or destroy the key of a domain.

Each of them can need a second person. Two transactions in two databases cannot be one: the audit log of the service
says that it was decided, and the log of the part proves when it was done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from kohorte.errors import InputError
from kohorte.pseudonyms.kinds.reference_list import ReferenceList
from kohorte.pseudonyms.resolving import Source
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust import limits, waiting_texts
from kohorte.service.trust.domains import known_domains, refuse_version
from kohorte.service.trust.folders import name_of
from kohorte.service.trust.patients import ABOUT, patient_list


def reserve(service: Service, actor: Actor, pid: str) -> str:
    """Check that a PID is in the list, keep it sealed, and return the fingerprint that stands for it."""
    limits.count(service, actor, 1)
    with patient_list(service, actor) as patients:
        known = patients.history(pid).pid
    return waiting_texts.keep(service, Part.PATIENTS, known)


def prepare(service: Service, connection: Connection, actor: Actor, fingerprint: str) -> Callable[[], object]:
    """Note in a transaction that a person is forgotten, and return what then forgets the person."""
    actor.refuse_without(Permission.MANAGE_PATIENTS)
    pid = waiting_texts.kept(service, Part.PATIENTS, fingerprint)
    with patient_list(service, actor) as patients:
        records = patients.forget(pid, dry_run=True)
    service.log.append(connection, "forget-patient", ABOUT, actor=actor.user_id, records=records)

    def forget() -> None:
        with patient_list(service, actor) as patients:
            patients.forget(pid)
        waiting_texts.remove(service, Part.PATIENTS, fingerprint)

    return forget


def reserve_entries(service: Service, actor: Actor, domain: str, pseudonyms: Sequence[str]) -> str:
    """Keep pseudonyms of a list sealed; whether any of them is in it is neither looked up nor told."""
    limits.count(service, actor, len(pseudonyms))
    with known_domains(service) as domains:
        if domains.definition(domain).kind != ReferenceList.name:
            raise InputError(
                "the domain has no list whose entries could be destroyed; destroy its key to end the link of all its "
                "pseudonyms",
                code="pseudonym-no-list",
            )
        Source(domain).check(domains.folder, pseudonyms)
    return waiting_texts.keep(service, Part.PSEUDONYMS, json.dumps([domain, sorted(set(pseudonyms))]))


def prepare_entries(service: Service, connection: Connection, actor: Actor, fingerprint: str) -> Callable[[], object]:
    """Note in a transaction that entries of a list are destroyed, and return what then destroys them."""
    actor.refuse_without(Permission.MANAGE_DOMAINS)
    domain, pseudonyms = json.loads(waiting_texts.kept(service, Part.PSEUDONYMS, fingerprint))
    with known_domains(service) as domains:
        domains.definition(domain)
    about = f"domain {domain}"
    service.log.append(connection, "forget-pseudonyms", about, actor=actor.user_id, pseudonyms=len(pseudonyms))

    def forget() -> None:
        with known_domains(service) as domains:
            domains.forget(domain, pseudonyms, actor=name_of(actor))
        waiting_texts.remove(service, Part.PSEUDONYMS, fingerprint)

    return forget


def prepare_key(
    service: Service, connection: Connection, actor: Actor, domain: str, version: int | None
) -> Callable[[], object]:
    """Note in a transaction that the key of a domain is destroyed, and return what then destroys it."""
    actor.refuse_without(Permission.MANAGE_DOMAINS)
    with known_domains(service) as domains:
        refuse_version(domains.definition(domain), version)
        domains.destructible(domain, version)
    service.log.append(connection, "destroy-domain-key", f"domain {domain}", actor=actor.user_id, version=version or 0)

    def destroy() -> None:
        with known_domains(service) as domains:
            domains.destroy_key(domain, version, actor=name_of(actor))

    return destroy
