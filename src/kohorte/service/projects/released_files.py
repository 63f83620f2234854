"""The results of a project: the released table, a preview, the certificate, the report, and the paid queries."""

from __future__ import annotations

import codecs
import csv
import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Row

from kohorte.errors import EngineError, InputError
from kohorte.languages import ENGLISH, Language
from kohorte.service.access import Actor, project_for
from kohorte.service.context import Service
from kohorte.service.disclosures.given import record_given
from kohorte.service.jobs.stored_report import page_in
from kohorte.service.permissions import Permission
from kohorte.service.projects import queries
from kohorte.service.projects.ruled_projects import refuse_broken
from kohorte.service.projects.store import READY, WITHDRAWN
from kohorte.service.trust.leaving import releases
from kohorte.service.vault import Content


def csv_chunks(service: Service, actor: Actor, project_id: int) -> Iterator[bytes]:
    """Return the released table in chunks; the first chunk is read before anything is sent."""
    project = _released(service, actor, project_id, "download-csv", leaves=True)
    chunks = service.vault.chunks(_file(project.release_file), Content.RELEASE)
    with _unless_deleted(service, actor, project_id):
        first = next(chunks)
    return itertools.chain([first], chunks)


def preview(service: Service, actor: Actor, project_id: int, *, rows: int) -> dict[str, Any]:
    """Return the first rows of the released table; the raw table is not read."""
    project = _released(service, actor, project_id, "preview-release", leaves=True)
    reader = csv.reader(_lines(service.vault.chunks(_file(project.release_file), Content.RELEASE)))
    with _unless_deleted(service, actor, project_id):
        return {"columns": next(reader, []), "rows": list(itertools.islice(reader, rows))}


def certificate(service: Service, actor: Actor, project_id: int) -> dict[str, Any]:
    """Return the evidence for the released table."""
    found: dict[str, Any] = _released(service, actor, project_id, "read-certificate").certificate
    return found


def report(service: Service, actor: Actor, project_id: int, language: Language = ENGLISH) -> bytes:
    """Return the public report on the released table, as a page in the language of the reader."""
    project = _released(service, actor, project_id, "read-report")
    with _unless_deleted(service, actor, project_id):
        return page_in(service.vault.read(_file(project.report_file), Content.REPORT), language)


def questions(
    service: Service, actor: Actor, project_id: int, *, user_id: int | None, limit: int, number: int
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the paid queries with their SQL, which may contain values."""
    found = queries.history(service, actor, project_id, user_id=user_id, limit=limit, number=number)
    with service.database.writing() as connection:
        project_for(service, connection, actor, project_id)
        about = f"project {project_id}"
        service.log.append(connection, "read-questions", about, actor=actor.user_id, questions=len(found[0]))
    return found


def _released(service: Service, actor: Actor, project_id: int, action: str, *, leaves: bool = False) -> Row[Any]:
    """A project whose release is ready; the audit log gets an entry before anything leaves.

    With `leaves` it is about the table itself, which leaves only if the project keeps the rules of the house.
    """
    with service.database.reading() as connection:
        project = releasing_project(service, connection, actor, project_id, evidence_only=not leaves)
        if leaves:
            refuse_broken(service, project)
    if leaves:
        releases.refuse_withdrawn(service, actor, project.certificate)
        record_given(service, actor, project)
    with service.database.writing() as connection:
        service.log.append(connection, action, f"project {project_id}", actor=actor.user_id)
    return project


def releasing_project(
    service: Service, connection: Connection, actor: Actor, project_id: int, *, evidence_only: bool
) -> Row[Any]:
    """Return a project whose release, or only the evidence for it, the actor may read, and whose release is ready."""
    everything = Permission.SEE_ALL_PROJECTS if evidence_only else Permission.MANAGE_PROJECTS
    project = project_for(service, connection, actor, project_id, everything)
    if project.interactive:
        raise InputError("this project answers queries; it has no released table", code="project-interactive")
    if project.state == WITHDRAWN and evidence_only and actor.may(Permission.SEE_ALL_PROJECTS):
        return project
    if project.state == WITHDRAWN:
        raise InputError("the release was withdrawn; it is no longer handed out", code="project-withdrawn-conflict")
    if project.state != READY:
        raise InputError(f"the project is not ready; its state is {project.state}", code="project-conflict")
    return project


@contextmanager
def _unless_deleted(service: Service, actor: Actor, project_id: int) -> Iterator[None]:
    """Report a file that cannot be read as not found if its project was deleted meanwhile."""
    try:
        yield
    except EngineError:
        with service.database.reading() as connection:
            project_for(service, connection, actor, project_id)
        raise


def _file(name: str | None) -> str:
    if name is None:
        raise EngineError("the file of a project is missing", code="service-file")
    return name


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a UTF-8 text with their ends."""
    rest = ""
    for text in codecs.iterdecode(chunks, "utf-8"):
        *lines, rest = (rest + text).split("\n")
        yield from (f"{line}\n" for line in lines)
    if rest:
        yield rest
