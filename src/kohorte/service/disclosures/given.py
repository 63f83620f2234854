"""What leaves a project is remembered in the ledger of the house: downloads, previews, and answers to queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from kohorte.disclosures.exits.noise import AnswerRecording
from kohorte.disclosures.exits.waiting import WaitingReleases, ledger_of_house
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import KohorteError, PrivacyViolation
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.settings import Settings

REASONS = ("disclosure-refused", "disclosure-not-examined")
WITHHELD = "withhold-release"


def ledger_order(settings: Settings) -> dict[str, str] | None:
    """What a job needs to know to examine a release; None if the house has no ledger."""
    if not settings.disclosure_ledger:
        return None
    return {"folder": str(settings.ledger_folder.absolute()), "patients": str(_patients(settings).absolute())}


def record_given(service: Service, actor: Actor, project: Row[Any]) -> None:
    """Record that a user gets the release of a project, before it is sent; the first time only.

    What the ledger finds is in the audit log; the user learns only that the release is not given out.
    """
    if not service.settings.disclosure_ledger:
        return
    try:
        with _opened(service, actor) as ledger:
            about = f"project {project.id}, release {project.release_file}"
            waiting = WaitingReleases(service.settings.ledger_folder)
            waiting.given(ledger, str(project.release_file), _name(actor), about=about, purpose=project.name)
    except KohorteError as error:
        if error.code not in REASONS:
            raise
        with service.database.writing() as connection:
            about, why = f"project {project.id}", error.message
            service.log.append(connection, WITHHELD, about, actor=actor.user_id, reason=why)
        raise withheld() from None


def forget_waiting(service: Service, release_file: str | None) -> None:
    """Remove what the ledger kept of a release that was deleted; what was given stays recorded."""
    WaitingReleases(service.settings.ledger_folder).forget(release_file)


@contextmanager
def remembered_answers(service: Service, actor: Actor, project_id: int) -> Iterator[AnswerRecording | None]:
    """Lists the answers to queries of a project in the ledger; None if the house has none."""
    if not service.settings.disclosure_ledger:
        yield None
        return
    with _opened(service, actor) as ledger:
        yield AnswerRecording(ledger, _name(actor), about=f"project {project_id}")


def withheld() -> PrivacyViolation:
    """The same words whatever the reason: a recipient must not learn what they are to protect."""
    return PrivacyViolation(
        "this release is not given out; the people of the house find the reason in the audit log",
        code="disclosure-withheld",
    )


@contextmanager
def _opened(service: Service, actor: Actor) -> Iterator[Ledger]:
    settings = service.settings
    with ledger_of_house(settings.ledger_folder, _patients(settings), actor=_name(actor)) as ledger:
        yield ledger


def _patients(settings: Settings) -> Path:
    return settings.trust_folder(Part.PATIENTS)


def _name(actor: Actor) -> str:
    return f"user {actor.user_id}"
