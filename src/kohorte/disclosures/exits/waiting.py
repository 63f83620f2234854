"""Releases that were found and wait in a service until somebody downloads them: sealed beside the ledger.

A release leaves when it is downloaded, by each recipient for the first time. It is examined when it is made, so that it
can be made without the people who would stand out, and once more, in the transaction that records it, when it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

from kohorte.data import atomic_write
from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.exits.consents import has_list, note_withdrawals
from kohorte.disclosures.exits.stored import from_bytes, to_bytes
from kohorte.disclosures.findings import Finding, FindingKind, Findings
from kohorte.disclosures.ledger import Ledger, refused
from kohorte.errors import InputError
from kohorte.trust.folder import TrustFolder
from kohorte.trust.sealing import Sealer

FOLDER = "waiting"
K_BYTES = 8


@contextmanager
def ledger_of_house(folder: Path, patients: Path | None, *, actor: str | None = None) -> Iterator[Ledger]:
    """Open the ledger of a house, which is made at its first use; it learns who has withdrawn by the patient list."""
    ledger = Ledger.open(folder, create=True, actor=actor)
    try:
        if patients is not None and has_list(patients):
            note_withdrawals(ledger, patients)
        yield ledger
    finally:
        ledger.close()


@dataclass(frozen=True)
class WaitingReleases:
    """The releases that wait in the folder of a ledger, each by the name of its file."""

    folder: Path

    def keep(self, name: str, candidate: Candidate, k: int) -> None:
        """Keep whom a release shows until it leaves."""
        path = self._path(name)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        content = k.to_bytes(K_BYTES, "big") + to_bytes(candidate)
        with atomic_write(path, force=True, private=True) as temporary:
            temporary.write_bytes(self._sealer.seal(content, row=name.encode()))

    def forget(self, name: str | None) -> None:
        """Remove what was kept of a release; nothing happens if there is nothing."""
        if name is not None:
            self._path(name).unlink(missing_ok=True)

    def given(self, ledger: Ledger, name: str, recipient: str, *, about: str, purpose: str = "") -> int | None:
        """Record that a release is given to a recipient; None if they have it already. Refused if anything is found.

        People who have withdrawn since then are a reason to refuse also if the recipient has it already.
        """
        candidate, k = self._kept(name)
        candidate = replace(candidate, recipient=recipient, about=about, purpose=purpose)
        if any(facts.get("about") == about and facts["recipient"] == recipient for facts in ledger.releases()):
            if gone := int(ledger.withdrawn(candidate.people[candidate.shown]).sum()):
                raise refused(Findings((Finding(FindingKind.WITHDRAWN, (), -(-gone // k) * k),)))
            return None
        return ledger.record(candidate, name, k=k)

    def _kept(self, name: str) -> tuple[Candidate, int]:
        try:
            content = self._sealer.unseal(self._path(name).read_bytes(), row=name.encode())
            return from_bytes(content[K_BYTES:]), int.from_bytes(content[:K_BYTES], "big")
        except (OSError, ValueError, KeyError, TypeError, BadZipFile):
            raise InputError(
                "it is not known whom the release shows: it was made without the disclosure ledger; make it again",
                code="disclosure-not-examined",
            ) from None

    def _path(self, name: str) -> Path:
        return self.folder / FOLDER / f"{name}.sealed"

    @property
    def _sealer(self) -> Sealer:
        return TrustFolder.opened(self.folder).sealer(FOLDER)
