"""Requests for users of the service: receive, check as a job, decide by two people, answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from kohorte.disclosures.exits.waiting import ledger_of_house
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import AccessDenied, InputError
from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.deciding.answers import answer as answer_to_folder
from kohorte.exchange.deciding.answers import remove_unfinished
from kohorte.exchange.deciding.decisions import (
    Choice,
    Decider,
    decide,
    decisions,
    policy_of,
    state_of,
    told,
)
from kohorte.exchange.deciding.folder import RequestFolder
from kohorte.exchange.holding import Holding
from kohorte.exchange.peers.sending import answer_to_peer, deliver
from kohorte.exchange.picture.page import to_html
from kohorte.exchange.request import Request
from kohorte.languages import ENGLISH, Language
from kohorte.service.access import DATASET, Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies
from kohorte.service.datasets.stored_references import refers_to_stored, resolved
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.jobs.queue import Kind, Subject, enqueue
from kohorte.service.parts import Part
from kohorte.service.storage.schema import datasets, users
from kohorte.service.trust import approvers
from kohorte.service.trust.folders import name_of, note, opened

ANSWER = "answer"


@contextmanager
def requests_of(service: Service) -> Iterator[RequestFolder]:
    """The folder of requests."""
    with opened(service, Part.EXCHANGE) as folder:
        yield RequestFolder(folder)


@contextmanager
def ledger_of(service: Service, actor: Actor) -> Iterator[Ledger]:
    """The one disclosure ledger of the house, which knows who has withdrawn by the patient list."""
    settings = service.settings
    patients = settings.trust_folder(Part.PATIENTS)
    with ledger_of_house(settings.ledger_folder, patients, actor=name_of(actor)) as ledger:
        yield ledger


def receive(service: Service, actor: Actor, data: Mapping[str, Any]) -> dict[str, Any]:
    """Receive a request that came as a file: its requester is only named."""
    with requests_of(service) as folder:
        number = folder.receive(Request.from_dict(data), actor=name_of(actor))
        found = _shown(folder, number)
    note(service, actor, "receive-request", f"request {number}")
    return found


def listed(service: Service) -> list[dict[str, Any]]:
    """All requests and how far they are, the newest first."""
    with requests_of(service) as opened_folder:
        folder = opened_folder.at_once()
        return [_shown(folder, number) | _decided(folder, number) for number in reversed(folder.numbers())]


def shown(service: Service, number: int) -> dict[str, Any]:
    """A request, how far it is, and who decided what."""
    with requests_of(service) as opened_folder:
        folder = opened_folder.at_once()
        found = _found(folder, number)
        return found | {"request": folder.request(number).to_dict()} | _decided(folder, number)


def begin_check(service: Service, actor: Actor, number: int, dataset_id: int, holding: Mapping[str, Any]) -> int:
    """Start the job that checks a request against the table of a dataset; returns its number."""
    with requests_of(service) as folder:
        _found(folder, number)
    holding = {**holding, "plan": _plan(service, actor, dataset_id, holding)}
    described = Holding.from_dict(holding)
    if described.plan.files():
        raise InputError("a plan of the service cannot refer to files: give hierarchies as rows", code="plan-files")
    with service.database.writing() as connection:
        stays = select(datasets.c.id).where(datasets.c.id == dataset_id).with_for_update(read=True, key_share=True)
        connection.execute(stays)  # locked, so that it is not deleted before the job exists
        dataset = dataset_for(service, connection, actor, dataset_id)
        if dataset.table_file is None:
            raise InputError("the dataset is not ready", code="dataset-conflict")
        asked = {
            "number": number,
            "folder": str(service.settings.trust_folder(Part.EXCHANGE).absolute()),
            "ledger": str(service.settings.ledger_folder.absolute()),
            "patients": str(service.settings.trust_folder(Part.PATIENTS).absolute()),
            "actor": name_of(actor),
            "holding": dict(holding),
        }
        job_id = enqueue(
            service, connection, Kind.CHECK, Subject(DATASET, dataset_id), actor_id=actor.user_id, request=asked
        )
        service.log.append(connection, "check-request", f"request {number}", actor=actor.user_id, job=job_id)
    return job_id


def _plan(service: Service, actor: Actor, dataset_id: int, holding: Mapping[str, Any]) -> object:
    """The plan of a holding, with the rows of the stored hierarchies of the dataset that it refers to."""
    plan = holding.get("plan")
    named = refers_to_stored(plan)
    return resolved(plan, hierarchies.for_plan(service, actor, dataset_id)) if named else plan


def record(service: Service, number: int) -> CheckRecord:
    """The record of the latest check."""
    with requests_of(service) as opened_folder:
        folder = opened_folder.at_once()
        _refuse_unknown(folder, number)
        return folder.record(number)


def page(service: Service, actor: Actor, number: int, language: Language = ENGLISH) -> str:
    """The latest check as a page with fields to sign."""
    with requests_of(service) as folder, ledger_of(service, actor) as ledger:
        proven = _found(folder, number)["proven"]
        record, before = folder.record(number), ledger.releases()
        return to_html(
            record, number_of_request=number, proven=proven, people_known=True, earlier=before, language=language
        )


def earlier(service: Service, actor: Actor) -> list[dict[str, Any]]:
    """What the disclosure ledger remembers: facts of everything that was sent before, without people."""
    with ledger_of(service, actor) as ledger:
        return ledger.releases()


def decide_request(
    service: Service, actor: Actor, number: int, choice: str, *, check: str, reason: str
) -> dict[str, Any]:
    """Note the decision of the person who is signed in, about the check that they have read."""
    person = _decider(service, actor)
    with requests_of(service) as folder:
        _found(folder, number)
        before = decisions(folder, number, folder.record(number)).choices
        approvers.refuse_dependent(service, tuple(dict.fromkeys((*before, name_of(actor)))))
        decide(folder, number, Choice(choice), person=person, today=_today(), reason=reason, check=check)
        found = _shown(folder, number) | _decided(folder, number)
    note(service, actor, f"decide-{choice}", f"request {number}")
    return found


def answer_request(service: Service, actor: Actor, number: int) -> dict[str, Any]:
    """Answer as the people decided: send it to the institution that asked, or keep the files for a request by hand."""
    with requests_of(service) as folder, ledger_of(service, actor) as ledger:
        _found(folder, number)
        approvers.refuse_dependent(service, tuple(decisions(folder, number, folder.record(number)).choices))
        if folder.origin(number) is not None:
            item = answer_to_peer(folder, number, ledger, today=_today(), actor=name_of(actor))
            sent = deliver(folder.trust, item, actor=name_of(actor))
            made: dict[str, Any] = {"to": sent.to, "state": str(sent.state), "files": []}
        else:
            with folder.held(number):
                remove_unfinished(folder, number, files := _files(folder, number))
                written = answer_to_folder(folder, number, files, ledger, today=_today(), actor=name_of(actor))
            made = {"to": None, "state": "written", "files": sorted(path.name for path in written.files)}
    note(service, actor, "answer-request", f"request {number}")
    return {"number": number, **made}


def answer_names(service: Service, number: int) -> list[str]:
    """The names of the files of an answer; none before there is one, and none if it was sent over the network."""
    with requests_of(service) as opened_folder:
        folder = opened_folder.at_once()
        _refuse_unknown(folder, number)
        if not folder.was_answered(number):
            return []
        files = _files(folder, number)
        return sorted(path.name for path in files.iterdir()) if files.is_dir() else []


def answer_file(service: Service, actor: Actor, number: int, name: str) -> Path:
    """A file of the answer to a request that came as a file."""
    with requests_of(service) as folder:
        _found(folder, number)
        files = _files(folder, number)
        found = {path.name: path for path in files.iterdir()} if files.is_dir() else {}
    if name not in found:
        raise AccessDenied("there is no such file", code="not-found")
    note(service, actor, "download-answer", f"request {number}")
    return found[name]


def _decider(service: Service, actor: Actor) -> Decider:
    with service.database.reading() as connection:
        row = connection.execute(USERS.where(users.c.id == actor.user_id)).one()
        service.guard.checked(connection, USER, row)
    return Decider(name_of(actor), (row.name, row.email_address), row.institution)


def _found(folder: RequestFolder, number: int) -> dict[str, Any]:
    _refuse_unknown(folder, number)
    return _shown(folder, number)


def _refuse_unknown(folder: RequestFolder, number: int) -> None:
    if number not in folder.numbers():
        raise AccessDenied("there is no such request", code="not-found")


def _shown(folder: RequestFolder, number: int) -> dict[str, Any]:
    request, origin = folder.request(number), folder.origin(number)
    return {
        "number": number,
        "institution": request.requester.institution,
        "requester": request.requester.name,
        "proven": origin is not None,
        "purpose": request.purpose,
        "until": request.until,
        "state": str(state_of(folder, number)),
        "sha256": request.fingerprint(),
        "check": folder.checked(number)["check"] or None,
    }


def _decided(folder: RequestFolder, number: int) -> dict[str, Any]:
    """Who decided what about the latest check, and how many people must agree to a release."""
    if not folder.checked(number)["check"]:
        return {"decisions": [], "deciders": None}
    record = folder.record(number)
    return {"decisions": told(folder, number, record), "deciders": policy_of(record).deciders}


def _files(folder: RequestFolder, number: int) -> Path:
    return folder.trust.path / "requests" / f"{number:04}" / ANSWER


def _today() -> date:
    return datetime.now(UTC).date()
