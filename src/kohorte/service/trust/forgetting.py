"""Forget a patient, also where a second person has to confirm it.

A request that waits for the second person is stored in the database of the service, which must not get a PID. The
request therefore holds a keyed fingerprint, and the PID waits in a sealed file in the folder of the patient list.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection

from kohorte.data import atomic_write
from kohorte.errors import InputError
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.trust.folders import opened
from kohorte.service.trust.patients import ABOUT, patient_list
from kohorte.trust.folder import TrustFolder
from kohorte.trust.private_files import locked

FOLDER = "forgetting"
HOUR = 3600.0


def reserve(service: Service, actor: Actor, pid: str) -> str:
    """Check that a PID is in the list, keep it sealed, and return the fingerprint that stands for it."""
    with patient_list(service, actor) as patients:
        known = patients.history(pid).pid
    with opened(service, Part.PATIENTS) as folder:
        fingerprint = folder.log.fingerprint(known)
        sealed = folder.sealer(FOLDER).seal(known.encode(), row=fingerprint.encode())
        path = _file(folder, fingerprint)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with locked(path.parent):
            _remove_old(path.parent, service.settings.approval_hours)
            with atomic_write(path, force=True, private=True) as temporary:
                temporary.write_bytes(sealed)
    return fingerprint


def prepare(service: Service, connection: Connection, actor: Actor, fingerprint: str) -> Callable[[], object]:
    """Note in a transaction that a person is forgotten, and return what then forgets the person.

    Two transactions in two databases cannot be one: the audit log of the service says that it was decided, and the log
    of the patient list proves when it was done.
    """
    actor.refuse_without(Permission.MANAGE_PATIENTS)
    pid = _reserved(service, fingerprint)
    with patient_list(service, actor) as patients:
        records = patients.forget(pid, dry_run=True)
    service.log.append(connection, "forget-patient", ABOUT, actor=actor.user_id, records=records)

    def forget() -> None:
        with patient_list(service, actor) as patients:
            patients.forget(pid)
        with opened(service, Part.PATIENTS) as folder:
            _file(folder, fingerprint).unlink(missing_ok=True)

    return forget


def _reserved(service: Service, fingerprint: str) -> str:
    with opened(service, Part.PATIENTS) as folder:
        try:
            sealed = _file(folder, fingerprint).read_bytes()
        except OSError:
            raise InputError(
                "the request to forget has expired, or was carried out; ask again", code="approval-conflict"
            ) from None
        return folder.sealer(FOLDER).unseal(sealed, row=fingerprint.encode()).decode()


def _file(folder: TrustFolder, fingerprint: str) -> Path:
    return folder.path / FOLDER / f"{fingerprint}.sealed"


def _remove_old(folder: Path, hours: float) -> None:
    """Remove what waits for longer than a request can."""
    for path in folder.glob("*.sealed"):
        if time.time() - path.stat().st_mtime > (hours + 1) * HOUR:
            path.unlink(missing_ok=True)
