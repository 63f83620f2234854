"""A release on its way into the ledger: examined when it is found, recorded just before its file appears."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from kohorte.data import sha256_of
from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.findings import Findings
from kohorte.disclosures.ledger import Ledger, refused
from kohorte.disclosures.released import Passing, candidate_of
from kohorte.plans.plan import Plan


class Recording:
    """One release that is examined and recorded; with `despite` it is recorded whatever is found."""

    def __init__(self, ledger: Ledger, plan: Plan, passing: Passing, *, despite: bool = False) -> None:
        self._ledger, self._plan, self._passing = ledger, plan, passing
        self._k = plan.smallest_class
        self._despite = despite
        self._candidate: Candidate | None = None

    def examine(self, original: pl.DataFrame, release: pl.DataFrame) -> Findings:
        """Return what the ledger finds; refuse it, unless the release is to be recorded despite of it."""
        self._candidate = candidate_of(self._ledger, original, release, self._plan, self._passing)
        findings = self._ledger.examine(self._candidate, self._k)
        if findings and not self._despite:
            raise refused(findings)
        return findings

    def commit(self, sha256: str, names: Sequence[tuple[Path, Path]]) -> None:
        """Record the release with the hash of its certificate; its files get their names after this."""
        del sha256
        assert self._candidate is not None, "a release is examined before it is written"
        (certificate,) = [temporary for temporary, path in names if path.name.endswith(".certificate.json")]
        self._ledger.record(self._candidate, sha256_of(certificate), k=None if self._despite else self._k)
