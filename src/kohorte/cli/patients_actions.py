"""What the actions of `kohorte patients` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kohorte.cli.output import trust_action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.patients.patient_list import PatientList

Actions = argparse._SubParsersAction  # noqa: SLF001 - argparse has no other name for it


def add_action(
    actions: Actions[argparse.ArgumentParser],
    name: str,
    text: str,
    run: Callable[[argparse.Namespace], int],
    *,
    epilog: str,
) -> argparse.ArgumentParser:
    """Add an action with --folder and --json."""
    parser = trust_action(actions, name, text, epilog)
    parser.set_defaults(run=run)
    return parser


def refuse_missing_libraries() -> None:
    """Refuse to continue if the extra is not installed."""
    from kohorte.patients import libraries

    libraries.refuse_missing_libraries()


@contextmanager
def opened_list(options: argparse.Namespace, *, create: bool = False) -> Iterator[PatientList]:
    """The patient list of the folder that the options name."""
    refuse_missing_libraries()
    from kohorte.patients.patient_list import PatientList
    from kohorte.trust.folder import TrustFolder

    patients = PatientList(TrustFolder.opened(options.folder, create=create))
    try:
        yield patients
    finally:
        patients.close()
