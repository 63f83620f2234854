"""What a party remembers of a joint release about its own people; a run itself knows no ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from kohorte.parties.joint import Signer
from kohorte.parties.study import Study
from kohorte.plans.plan import Plan


class Memory(Protocol):
    """Leaves people out of a party's table who have withdrawn, and remembers what a joint release tells of the rest."""

    def without_withdrawn(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the table without people who have withdrawn."""

    def record(
        self, frame: pl.DataFrame, plan: Plan, levels: Mapping[str, int], *, about: str, recipients: Sequence[str]
    ) -> None:
        """Remember a release of these rows at these levels, before anybody else gets it."""


@dataclass(frozen=True, eq=False)
class RememberingSigner:
    """Signs the certificate of a release after the party has remembered it, and not if that fails."""

    signer: Signer
    remember: Callable[[Mapping[str, Any]], None]

    @property
    def certificate(self) -> str:
        """The member's own certificate, as PEM text."""
        return self.signer.certificate

    def sign(self, message: bytes) -> str:
        """Remember the release that the certificate is about, and return the signature."""
        self.remember(json.loads(message))
        return self.signer.sign(message)

    def check(self, name: str, certificate: str, message: bytes, signature: str) -> bool:
        """Tell whether a certificate is that of a member of the study, and its owner signed the message."""
        return self.signer.check(name, certificate, message, signature)


def remembering(signer: Signer, memory: Memory | None, study: Study, name: str, frame: pl.DataFrame | None) -> Signer:
    """The signer of a member who remembers joint releases about its own people."""
    recipients = [receiver for receiver in study.receivers if receiver != name]
    if memory is None or frame is None or not recipients:
        return signer

    def remember(facts: Mapping[str, Any]) -> None:
        about = f"study {study.fingerprint()}"
        memory.record(frame, study.plan, facts["release"]["levels"], about=about, recipients=recipients)

    return RememberingSigner(signer, remember)
