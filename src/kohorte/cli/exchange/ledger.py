"""The disclosure ledger on the command line: its options for verbs that write a release, and opening it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kohorte.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.ledger import Ledger
    from kohorte.disclosures.recording import Recording
    from kohorte.plans import Plan


def add_ledger_options(parser: argparse.ArgumentParser) -> None:
    """Add --ledger and what belongs to it, for verbs that write a release."""
    parser.add_argument(
        "--ledger", metavar="LEDGER", help="examine the release against this disclosure ledger, and record it there"
    )
    parser.add_argument(
        "--despite-ledger", action="store_true", help="write and record the release also if the ledger finds something"
    )


def recording(options: argparse.Namespace, plan: Plan, closing: ExitStack) -> Recording | None:
    """The record that the options ask for, in an open ledger; None if they name none."""
    if options.ledger is None:
        if options.despite_ledger:
            raise InputError("--despite-ledger needs --ledger", code="disclosure-options")
        return None
    recipient = options.recipient or plan.about.recipient
    if not recipient:
        raise InputError("--ledger needs --recipient: who gets the release?", code="disclosure-recipient")
    ledger = closing.enter_context(opened_ledger(options.ledger))
    from kohorte.disclosures.recording import Recording
    from kohorte.disclosures.released import Passing

    passing = Passing(recipient, options.purpose or plan.about.purpose or "")
    return Recording(ledger, plan, passing, despite=options.despite_ledger)


@contextmanager
def opened_ledger(folder: str, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger of a folder."""
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.disclosures.ledger import Ledger

    ledger = Ledger.open(folder, create=create)
    try:
        yield ledger
    finally:
        ledger.close()
