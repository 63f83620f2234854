"""The disclosure ledger before a release of a job: people who would stand out are left out, or there is no release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kohorte.disclosures.exits.recording import Recording
from kohorte.disclosures.exits.released import Passing
from kohorte.disclosures.exits.waiting import WaitingReleases, ledger_of_house
from kohorte.errors import PrivacyViolation
from kohorte.plans import Plan

REFUSED = "disclosure-refused"
NOBODY_YET = "nobody yet"


class Withheld(PrivacyViolation):
    """A release that the disclosure ledger refuses; `reason` is for the people of the house."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "this release is not given out; the people of the house find the reason in the audit log",
            code="disclosure-withheld",
        )
        self.reason = reason


@contextmanager
def examined(ledger: Mapping[str, str] | None, plan: Plan) -> Iterator[Recording | None]:
    """What examines a release of this plan; None if the house has no ledger. Nothing is recorded before it leaves."""
    if ledger is None:
        yield None
        return
    try:
        with ledger_of_house(Path(ledger["folder"]), Path(ledger["patients"]), actor="a job") as opened:
            yield Recording(opened, plan, Passing(NOBODY_YET), leave_out=True)
    except PrivacyViolation as error:
        if error.code != REFUSED:
            raise
        raise Withheld(error.message) from None


def keep_waiting(ledger: Mapping[str, str] | None, recording: Recording | None, name: str) -> None:
    """Keep whom a release shows until somebody downloads it."""
    if ledger is not None and recording is not None:
        waiting = WaitingReleases(Path(ledger["folder"]))
        waiting.keep(name, recording.candidate, recording.plan.smallest_class)


def words_of(recording: Recording | None) -> str:
    """What the ledger found, for the audit log; empty if nothing."""
    if recording is None or not recording.left_out:
        return ""
    reasons = "; ".join(finding.in_words for finding in recording.findings)
    return f"people were left out: {reasons or 'they have withdrawn'}"
