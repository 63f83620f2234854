"""Withdrawals of the consent register reach the ledger: by the PIDs that tables with `person: pid` contain."""

from __future__ import annotations

from pathlib import Path

from kohorte.disclosures.ledger import Ledger
from kohorte.patients.consents.register import Consents
from kohorte.patients.list.tables import NAME
from kohorte.patients.patient_list import PatientList
from kohorte.trust.folder import TrustFolder


def has_list(folder: str | Path) -> bool:
    """Whether a folder has a patient list."""
    return (Path(folder) / f"{NAME}.key").is_file()


def note_withdrawals(ledger: Ledger, folder: str | Path) -> int:
    """Note in the ledger everybody of the patient list who has withdrawn; returns how many are new.

    It is called before anything is examined, so that a withdrawal counts from the moment at which the register has it.
    """
    patients = PatientList(TrustFolder.opened(folder))
    try:
        pids = Consents(patients).withdrawn()
    finally:
        patients.close()
    return ledger.withdraw(pids) if pids else 0
