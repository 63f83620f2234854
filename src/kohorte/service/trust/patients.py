"""The patient list, for users of the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

from kohorte.patients.identity import FIELDS, Identity
from kohorte.patients.list.cases import Case
from kohorte.patients.list.judging import told
from kohorte.patients.patient_list import PatientList
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust import limits
from kohorte.service.trust.folders import name_of, note, opened

ABOUT = "patient list"


@contextmanager
def patient_list(service: Service, actor: Actor) -> Iterator[PatientList]:
    """Open the list while a request is served."""
    with opened(service, Part.PATIENTS) as folder:
        patients = PatientList(folder, actor=name_of(actor))
        try:
            yield patients
        finally:
            patients.close()


def register(service: Service, actor: Actor, people: Sequence[Mapping[str, str]]) -> list[dict[str, str | None]]:
    """Register people; return PID and outcome of each, in their order.

    The same description gets the same PID again. Only people who may see the list learn whether somebody was in it.
    """
    limits.count(service, actor, len(people))
    with patient_list(service, actor) as patients:
        found = patients.register(_table(people), dict(zip(FIELDS, FIELDS, strict=True)))
    note(service, actor, "register-patients", ABOUT, people=len(people))
    tells = actor.may(Permission.MANAGE_PATIENTS)
    return [{"pid": row.pid, "outcome": row.outcome.value if tells else told(row.outcome)} for row in found.rows]


def rehearse(service: Service, actor: Actor, people: Sequence[Mapping[str, str]]) -> list[dict[str, str | None]]:
    """Return what would become of people, and store nothing: it tells who is in the list, and gives no PID."""
    actor.refuse_without(Permission.MANAGE_PATIENTS)
    limits.count(service, actor, len(people))
    with patient_list(service, actor) as patients:
        found = patients.register(_table(people), dict(zip(FIELDS, FIELDS, strict=True)), dry_run=True)
    note(service, actor, "rehearse-registration", ABOUT, people=len(people))
    return [{"pid": None, "outcome": row.outcome.value} for row in found.rows]


def cases(service: Service, actor: Actor) -> list[Case]:
    """Return the open cases, those that agree most first, without names."""
    with patient_list(service, actor) as patients:
        return patients.cases()


def case(service: Service, actor: Actor, number: int) -> dict[str, Any]:
    """Return a case with the identity data of both people, for the eyes of the person who decides."""
    with patient_list(service, actor) as patients:
        shown = patients.case(number).to_dict()
        mine, others = patients.identities(number)
    note(service, actor, "show-case", f"case {number}")
    return shown | {"this_record": fields_of(mine), "other_records": [fields_of(other) for other in others]}


def decide(service: Service, actor: Actor, number: int, *, same: bool) -> tuple[str, str]:
    """Decide a case; return the PID that stays for the person and the other PID."""
    with patient_list(service, actor) as patients:
        decided = patients.decide(number, same=same)
    note(service, actor, "decide-case", f"case {number}")
    return decided


def merge(service: Service, actor: Actor, pid: str, other_pid: str) -> tuple[str, str]:
    """Make two people one; return the PID that stays and the other one."""
    limits.count(service, actor, 2)
    with patient_list(service, actor) as patients:
        merged = patients.merge(pid, other_pid)
    note(service, actor, "merge-patients", ABOUT)
    return merged


def split(service: Service, actor: Actor, pid: str, records: Sequence[int]) -> tuple[str, str]:
    """Give records of a person to a person of their own; return both PIDs."""
    limits.count(service, actor, 1)
    with patient_list(service, actor) as patients:
        parts = patients.split(pid, records)
    note(service, actor, "split-patient", ABOUT, records=len(set(records)))
    return parts


def history(service: Service, actor: Actor, pid: str) -> dict[str, Any]:
    """Return what happened to a PID, without identity data."""
    limits.count(service, actor, 1)
    with patient_list(service, actor) as patients:
        found = patients.history(pid).to_dict()
    note(service, actor, "read-patient-history", ABOUT)
    return found


def rotate_key(service: Service, actor: Actor) -> int:
    """Seal the whole list with a new version of its key; return the number of the version."""
    with patient_list(service, actor) as patients:
        version = patients.rotate_key()
    note(service, actor, "rotate-patients-key", ABOUT, version=version)
    return version


def _table(people: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(people, schema=dict.fromkeys(FIELDS, pl.String))


def fields_of(identity: Identity) -> dict[str, str]:
    """Return identity data by the names of its fields."""
    return dict(zip(FIELDS, identity.values, strict=True))
