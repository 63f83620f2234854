"""The folders of the parts with keys and lists: made when the service starts, opened for each request."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kohorte.errors import EngineError, InputError, KohorteError
from kohorte.exchange.peers.incoming import remove_unfinished
from kohorte.patients.patient_list import PatientList
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import OF_TRUST, Part
from kohorte.service.settings import Settings
from kohorte.service.storage.numbers import skip_to
from kohorte.service.storage.schema import users
from kohorte.service.trust import heads
from kohorte.trust.folder import TrustFolder
from kohorte.trust.records.heads import Head

ABOUT_A_PID = "trust-pid-"
LONGEST_NUMBER = 10
_log = logging.getLogger("kohorte.service")


def make_folders(settings: Settings) -> None:
    """Make the folders of the parts that are served, unless they exist; a part that is not served gets none."""
    for part in OF_TRUST:
        if part in settings.parts:
            folder = TrustFolder.opened(settings.trust_folder(part), create=True)
            if part is Part.PATIENTS:
                PatientList(folder).close()
            if part is Part.EXCHANGE:
                remove_unfinished(folder)


def keep_numbers(service: Service) -> None:
    """Let no new account have the number of a person whom a log of a part names.

    An older database may have been put back beside newer folders: a new account with an old number would see what the
    old one asked for. A log that was changed is read up to there; its use is refused elsewhere.
    """
    highest = 0
    for part in OF_TRUST:
        if part in service.settings.parts and service.settings.trust_folder(part).is_dir():
            with suppress(KohorteError):
                for entry in TrustFolder.opened(service.settings.trust_folder(part)).log.verified_entries():
                    highest = max(highest, number_of(entry["actor"]), number_of(str(entry["details"].get("target"))))
    with service.database.writing() as connection:
        skip_to(connection, users.name, highest)


@contextmanager
def opened(service: Service, part: Part) -> Iterator[TrustFolder]:
    """Open the folder of a part while a request is served, and note how far its log is afterwards.

    What is wrong with the folder, a key or the database is for the operator: the log says it, the client does not learn
    it.
    """
    with opened_at(service.settings.trust_folder(part), part) as folder:
        before = heads.refuse_older(service, part, folder)
        try:
            yield folder
        finally:
            _remember(service, part, folder, before)


@contextmanager
def opened_at(path: Path, part: Part) -> Iterator[TrustFolder]:
    """Open the folder of a part in a process that does not know the database; `opened` has compared it before."""
    try:
        yield TrustFolder.opened(path)
    except (InputError, EngineError) as error:
        if not error.code.startswith("trust-") or error.code.startswith(ABOUT_A_PID):
            raise
        _log.error("%s (%s)", error.message, error.code)
        raise EngineError(
            f"the folder of the {part} cannot be used; the log of the service says why", code="service-trust-folder"
        ) from None


def _remember(service: Service, part: Part, folder: TrustFolder, before: Head) -> None:
    """Note how far the log is, as soon as the database can be written; a failure does not take back what was done."""
    with suppress(KohorteError):  # a log that was changed meanwhile is refused by the next request
        head = folder.log.checked().head
        if head.number > before.number:
            service.database.when_free(lambda: _noted(service, part, head))


def _noted(service: Service, part: Part, head: Head) -> None:
    try:
        heads.remember(service, part, head)
    except KohorteError as error:
        _log.error("how far the log of the %s is could not be noted: %s (%s)", part, error.message, error.code)


def name_of(actor: Actor) -> str:
    """How logs and histories of a part name a user of the service."""
    return f"user {actor.user_id}"


def number_of(name: str) -> int:
    """The number of the user whom `name_of` named; 0, which no user has, for people of the command line."""
    kind, _, number = name.partition(" ")
    return int(number) if kind == "user" and number.isdecimal() and len(number) < LONGEST_NUMBER else 0


def note(service: Service, actor: Actor, action: str, about: str, **counts: int) -> None:
    """Record an operation in the audit log of the service: what was done and how often, never a value."""
    with service.database.writing() as connection:
        service.log.append(connection, action, about, actor=actor.user_id, **counts)
