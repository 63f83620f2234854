"""Take a folder of keys and lists as it is, after an older copy of it, or of its database, was put back.

What the log knows as forgotten is forgotten again, no number is given twice, and what could be used a second time ends:
TempIDs, and requests for the way back that wait. The command line does the same for a folder without a service.
"""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.patients.list.tables import NAME
from kohorte.patients.patient_list import PatientList
from kohorte.pseudonyms.domains import Domains
from kohorte.service.context import Service
from kohorte.service.trust import heads
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import account
from kohorte.trust.people import People
from kohorte.trust.way_back import WayBack


@dataclass(frozen=True)
class Confirmed:
    """What was forgotten again and declined, and the head of the log."""

    forgotten_entries: int
    forgotten_pids: int
    declined: int
    head: str


def confirm_folder(folder: TrustFolder, *, reason: str) -> Confirmed:
    """Take a folder as it is; the chain of its log must be whole."""
    actor = account()
    folder.log.confirm(reason=reason, actor=actor)
    entries = Domains(folder).complete()
    pids = PatientList.complete(folder) if (folder.path / f"{NAME}.key").exists() else 0
    People(folder).confirm()
    declined = WayBack(folder).decline_all(actor=actor)
    head = folder.log.append(
        "complete folder", "the folder", actor=actor, entries=entries, pids=pids, declined=declined
    )
    return Confirmed(entries, pids, declined, str(head))


def confirm_parts(service: Service, *, reason: str) -> dict[str, Confirmed]:
    """Take the folders of the parts as they are that the service refuses; the audit log gets the reason."""
    done = {}
    for part in heads.older_parts(service):
        folder = TrustFolder.opened(service.settings.trust_folder(part), unchecked=True)
        done[str(part)] = confirm_folder(folder, reason=reason)
        heads.remember(service, part, folder.log.checked().head, lower=True)
        with service.database.writing() as connection:
            service.log.append(connection, "confirm-part", f"part {part}", actor=None, reason=reason.strip())
    return done
