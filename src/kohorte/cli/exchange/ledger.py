"""The disclosure ledger on the command line: its options for verbs that write a release, and opening it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kohorte.errors import InputError
from kohorte.in_words import count, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.exits.recording import Recording
    from kohorte.disclosures.exits.series import SeriesRecording
    from kohorte.disclosures.ledger import Ledger
    from kohorte.plans import Plan
    from kohorte.series import Series


def add_ledger_options(parser: argparse.ArgumentParser) -> None:
    """Add --ledger and what belongs to it, for verbs that write a release."""
    parser.add_argument(
        "--ledger", metavar="LEDGER", help="examine the release against this disclosure ledger, and record it there"
    )
    found = parser.add_mutually_exclusive_group()
    found.add_argument(
        "--leave-out", action="store_true", help="leave people out until the ledger finds nothing, instead of refusing"
    )
    found.add_argument(
        "--despite-ledger", action="store_true", help="write and record the release also if the ledger finds something"
    )


def recording(
    options: argparse.Namespace, plan: Plan, closing: ExitStack, *, series: str | None = None
) -> Recording | SeriesRecording | None:
    """The record that the options ask for, in an open ledger; None if they name none. `series` says of which one."""
    if options.ledger is None:
        for name in ("despite_ledger", "leave_out"):
            if getattr(options, name):
                raise InputError(f"--{name.replace('_', '-')} needs --ledger", code="disclosure-options")
        return None
    recipient = options.recipient or plan.about.recipient
    if not recipient:
        raise InputError("--ledger needs --recipient: who gets the release?", code="disclosure-recipient")
    ledger = closing.enter_context(opened_ledger(options.ledger))
    from kohorte.disclosures.candidate import ReleaseKind
    from kohorte.disclosures.exits.recording import Recording
    from kohorte.disclosures.exits.released import Passing
    from kohorte.disclosures.exits.series import SeriesRecording

    chosen = {"despite": options.despite_ledger, "leave_out": options.leave_out}
    purpose = options.purpose or plan.about.purpose or ""
    if series is None:
        return Recording(ledger, plan, Passing(recipient, purpose), **chosen)
    return SeriesRecording(ledger, plan, Passing(recipient, purpose, ReleaseKind.SERIES, series), **chosen)


def ledger_facts(recorded: Recording | None) -> dict[str, object]:
    """What the ledger found and did, as plain data."""
    if recorded is None:
        return {}
    return {"ledger_findings": recorded.findings.to_dict(), "ledger_left_out": recorded.left_out}


def print_ledger(recorded: Recording | None, options: argparse.Namespace) -> None:
    """Print what the ledger found and did, for the holder of the data."""
    if recorded is None:
        return
    for finding in recorded.findings:
        print(f"note: the disclosure ledger found: {finding.in_words}")
    if recorded.left_out:
        people = count(recorded.left_out, "person is", "people are")
        print(f"{people} left out by the disclosure ledger; do not tell the recipient")
    elif recorded.findings:
        print("written despite the ledger" if options.output else "it would be written despite the ledger")
    else:
        print("the disclosure ledger found nothing")


def releases_not_recorded(options: argparse.Namespace, series: Series) -> dict[str, object]:
    """Which releases of a series are not in the ledger that the options name, as plain data; empty without one."""
    if options.ledger is None:
        return {}
    from kohorte.disclosures.exits.series import not_recorded

    with opened_ledger(options.ledger) as ledger:
        return {"not_in_ledger": not_recorded(ledger, series.identity, len(series.history))}


def print_not_recorded(found: dict[str, object]) -> None:
    """Print which releases of a series are not in the ledger."""
    numbers = found.get("not_in_ledger")
    if not isinstance(numbers, list):
        return
    if numbers:
        those = listed([str(number) for number in numbers])
        print(f"note: not in the disclosure ledger: release {those}; 'series release --again N --ledger' records one")
    else:
        print("the disclosure ledger has all releases of the series")


@contextmanager
def opened_ledger(folder: str, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger of a folder."""
    ledger = noting_withdrawals(Path(folder), create=create)
    try:
        yield ledger
    finally:
        ledger.close()


def noting_withdrawals(folder: Path, *, create: bool) -> Ledger:
    """Open the ledger of a folder; it learns who has withdrawn by the patient list of the folder or KOHORTE_FOLDER."""
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.disclosures.ledger import Ledger

    ledger = Ledger.open(folder, create=create)
    try:
        learn_withdrawals(ledger, folder)
    except BaseException:
        ledger.close()
        raise
    return ledger


def learn_withdrawals(ledger: Ledger, folder: Path) -> None:
    """Let the ledger of a folder learn who has withdrawn by the patient list of the folder or KOHORTE_FOLDER."""
    from kohorte.disclosures.exits.consents import has_list, note_withdrawals
    from kohorte.trust.folder import ENVIRONMENT

    for one in dict.fromkeys((folder, Path(os.environ.get(ENVIRONMENT) or folder))):
        if has_list(one):
            note_withdrawals(ledger, one)
