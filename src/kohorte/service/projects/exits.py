"""What leaves a project: the file that was verified, its first rows, the evidence, the report; who asked what."""

from __future__ import annotations

import codecs
import csv
import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Row

from kohorte.errors import EngineError, InputError
from kohorte.service.access import Actor, project_for
from kohorte.service.context import Service
from kohorte.service.projects import asking
from kohorte.service.projects.store import READY
from kohorte.service.vault import Content


def csv_chunks(service: Service, actor: Actor, project_id: int) -> Iterator[bytes]:
    """Return the released table, chunk by chunk; the first is read before anything is sent."""
    project = _released(service, actor, project_id, "download-csv")
    chunks = service.vault.chunks(_file(project.release_file), Content.RELEASE)
    with _unless_deleted(service, actor, project_id):
        first = next(chunks)
    return itertools.chain([first], chunks)


def preview(service: Service, actor: Actor, project_id: int, *, rows: int) -> dict[str, Any]:
    """Return the first rows of the released table; the raw one is never looked at."""
    project = _released(service, actor, project_id, "preview-release")
    reader = csv.reader(_lines(service.vault.chunks(_file(project.release_file), Content.RELEASE)))
    with _unless_deleted(service, actor, project_id):
        return {"columns": next(reader, []), "rows": list(itertools.islice(reader, rows))}


def certificate(service: Service, actor: Actor, project_id: int) -> dict[str, Any]:
    """Return the evidence for the released table."""
    found: dict[str, Any] = _released(service, actor, project_id, "read-certificate").certificate
    return found


def report(service: Service, actor: Actor, project_id: int) -> bytes:
    """Return the report on the released table, as a page for everybody who gets it."""
    project = _released(service, actor, project_id, "read-report")
    with _unless_deleted(service, actor, project_id):
        return service.vault.read(_file(project.report_file), Content.REPORT)


def questions(
    service: Service, actor: Actor, project_id: int, *, user_id: int | None, limit: int, number: int
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the paid questions with their SQL, in which values may stand."""
    found = asking.history(service, actor, project_id, user_id=user_id, limit=limit, number=number)
    with service.database.writing() as connection:
        project_for(connection, actor, project_id)
        about = f"project {project_id}"
        service.log.append(connection, "read-questions", about, actor=actor.user_id, questions=len(found[0]))
    return found


def _released(service: Service, actor: Actor, project_id: int, action: str) -> Row[Any]:
    """A project whose release is there; the audit log gets an entry before anything leaves."""
    with service.database.writing() as connection:
        project = project_for(connection, actor, project_id)
        if project.interactive:
            raise InputError("this project answers questions; it has no released table", code="project-interactive")
        if project.state != READY:
            raise InputError(f"the project is not ready but {project.state}", code="project-conflict")
        service.log.append(connection, action, f"project {project_id}", actor=actor.user_id)
    return project


@contextmanager
def _unless_deleted(service: Service, actor: Actor, project_id: int) -> Iterator[None]:
    """Where a file cannot be read, say that its project was deleted meanwhile, if it was."""
    try:
        yield
    except EngineError:
        with service.database.reading() as connection:
            project_for(connection, actor, project_id)
        raise


def _file(name: str | None) -> str:
    if name is None:
        raise EngineError("a project has lost its file", code="service-file")
    return name


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a UTF-8 text with their ends."""
    rest = ""
    for text in codecs.iterdecode(chunks, "utf-8"):
        *lines, rest = (rest + text).split("\n")
        yield from (f"{line}\n" for line in lines)
    if rest:
        yield rest
