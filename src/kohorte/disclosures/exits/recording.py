"""A release on its way into the ledger: examined when it is found, recorded just before its file appears.

People who have withdrawn are left out before anything is searched. If somebody has withdrawn, or if it is asked for,
further people are left out with them, until nothing below k follows by comparison with earlier releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from kohorte.data import sha256_of
from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.exits.released import Passing, candidate_of, people_of
from kohorte.disclosures.findings import Findings
from kohorte.disclosures.ledger import Ledger, refused
from kohorte.errors import PrivacyViolation
from kohorte.kernels.arrays import Bools, Integers
from kohorte.plans.plan import Plan
from kohorte.release import Candidate as Found

MOST_ROUNDS = 20
"""A release that needs more rounds is refused."""
Made = TypeVar("Made")
Released = TypeVar("Released", bound=Found)
Make = Callable[[pl.DataFrame], Made]
"""Makes a release of some rows."""
Told = Callable[[pl.DataFrame, Made], Candidate]
"""Says whom a release of some rows shows in which class."""


class Recording:
    """One release that is examined and recorded.

    With `leave_out` people are left out until nothing is found; with `despite` it is recorded whatever is found.
    `findings` are what was found first, `left_out` is how many people are not in the release because of the ledger, and
    `rows` are those of the table that it was made of.
    """

    def __init__(
        self, ledger: Ledger, plan: Plan, passing: Passing, *, despite: bool = False, leave_out: bool = False
    ) -> None:
        self.ledger, self.plan, self.passing = ledger, plan, passing
        self.findings, self.left_out = Findings(), 0
        self.rows = pl.DataFrame()
        self._k = plan.smallest_class
        self._despite, self._leave_out = despite, leave_out
        self._candidate: Candidate | None = None

    @property
    def candidate(self) -> Candidate:
        """The release as it passed."""
        assert self._candidate is not None, "a release is examined before it is written"
        return self._candidate

    def passed(self, original: pl.DataFrame, make: Make[Made], told: Told[Made]) -> Made:
        """Make a release of a table in which nobody stands out; refused if there is none."""
        people = people_of(self.ledger, original, self.plan)
        withdrawn = self.ledger.withdrawn(people)
        repairs = self._leave_out or bool(withdrawn.any())
        kept: Bools = ~withdrawn
        for _ in range(MOST_ROUNDS):
            if not kept.any():
                break
            rows = original if kept.all() else original.filter(pl.Series(kept))
            made = make(rows)
            self._candidate = told(rows, made).of_table(people)
            findings = self.ledger.examine(self._candidate, self._k)
            self.findings = self.findings or findings
            if not findings or self._despite:
                self.left_out = _different(people) - _different(people[kept])
                self.rows = rows
                return made
            if not repairs:
                raise refused(findings)
            repaired = self.ledger.repaired(self._candidate, self._k)
            if repaired is None:
                raise refused(findings)
            kept &= ~np.isin(people, repaired.left_out_of(self._candidate))
        raise refused(self.findings) if self.findings else nobody_left()

    def released(self, original: pl.DataFrame, make: Make[Released]) -> Released:
        """Make a release of the engine in which nobody stands out."""

        def told(rows: pl.DataFrame, made: Released) -> Candidate:
            shown = made.table.in_memory("the disclosure ledger")
            return candidate_of(self.ledger, rows, shown, self.plan, self.passing)

        return self.passed(original, make, told)

    def examine(self, original: pl.DataFrame, release: pl.DataFrame) -> Findings:
        """Return what the ledger finds in a release that was made; refuse it, unless it is recorded despite of it."""
        return self.examine_told(candidate_of(self.ledger, original, release, self.plan, self.passing))

    def examine_told(self, candidate: Candidate) -> Findings:
        """Return what the ledger finds in a candidate; refuse it, unless it is to be recorded despite of it."""
        self._candidate = candidate
        self.findings = self.ledger.examine(candidate, self._k)
        if self.findings and not self._despite:
            raise refused(self.findings)
        return self.findings

    def commit(self, sha256: str, names: Sequence[tuple[Path, Path]]) -> None:
        """Record the release with the hash of its certificate; its files get their names after this."""
        found = [temporary for temporary, path in names if path.name.endswith(".certificate.json")]
        self.record(sha256_of(found[0]) if found else sha256)

    def record(self, certificate_hash: str) -> int:
        """Record the release as it passed, in one transaction with a last look; returns its number."""
        return self.ledger.record(self.candidate, certificate_hash, k=None if self._despite else self._k)


def _different(people: Integers) -> int:
    return len(np.unique(people))


def nobody_left() -> PrivacyViolation:
    """The error for the holder of a table of which everybody has withdrawn."""
    return PrivacyViolation(
        "the release was refused by the disclosure ledger: nobody of the table is left who has not withdrawn",
        code="disclosure-refused",
    )
