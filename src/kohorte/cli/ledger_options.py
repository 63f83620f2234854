"""The options of verbs that write a release and can examine it against a disclosure ledger, and record it there."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from kohorte.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.disclosures.candidate import Candidate as Disclosed
    from kohorte.disclosures.findings import Findings
    from kohorte.disclosures.ledger import Ledger
    from kohorte.plans import Plan


def add_ledger_options(parser: argparse.ArgumentParser) -> None:
    """Add --ledger and what belongs to it."""
    parser.add_argument(
        "--ledger", metavar="LEDGER", help="examine the release against this disclosure ledger, and record it there"
    )
    parser.add_argument(
        "--despite-ledger", action="store_true", help="write and record the release also if the ledger finds something"
    )


class LedgerRecord:
    """A release on its way into a ledger: examined when it is found, recorded just before its file appears."""

    def __init__(self, options: argparse.Namespace, plan: Plan, recipient: str | None, closing: ExitStack) -> None:
        from kohorte.cli.verbs.disclosures import opened_ledger

        if not recipient:
            raise InputError("--ledger needs --recipient: who gets the release?", code="disclosure-recipient")
        self._recipient = recipient
        self._purpose = options.purpose or plan.about.purpose or ""
        self._despite: bool = options.despite_ledger
        self._plan = plan
        self._k = plan.smallest_class
        self._ledger: Ledger = closing.enter_context(opened_ledger(options.ledger))
        self._candidate: Disclosed | None = None

    @classmethod
    def of(cls, options: argparse.Namespace, plan: Plan, closing: ExitStack) -> LedgerRecord | None:
        """Open the ledger that the options name; None if they name none."""
        if options.ledger is not None:
            return cls(options, plan, options.recipient or plan.about.recipient, closing)
        if options.despite_ledger:
            raise InputError("--despite-ledger needs --ledger", code="disclosure-options")
        return None

    def examine(self, original: pl.DataFrame, release: pl.DataFrame) -> Findings:
        """Return what the ledger finds; refuse it, unless it was told to go on."""
        from kohorte.disclosures.ledger import refused
        from kohorte.disclosures.released import Passing, candidate_of

        passing = Passing(self._recipient, self._purpose)
        self._candidate = candidate_of(self._ledger, original, release, self._plan, passing)
        findings = self._ledger.examine(self._candidate, self._k)
        if findings and not self._despite:
            raise refused(findings)
        return findings

    def commit(self, sha256: str, names: Sequence[tuple[Path, Path]]) -> None:
        """Record the release with the hash of its certificate; its files get their names after this."""
        from kohorte.data import sha256_of

        del sha256
        assert self._candidate is not None, "a release is examined before it is written"
        (certificate,) = [temporary for temporary, path in names if path.name.endswith(".certificate.json")]
        k = None if self._despite else self._k
        self._ledger.record(self._candidate, sha256_of(certificate), k=k)
