"""The queue: jobs as rows of the database, each taken by one worker at a time.

A worker holds a job for the time of a lease, which it renews. When the lease has expired, another worker may take the
job, as a new attempt. A worker writes about a job only if its own attempt is still the running one, so that a worker
that was considered dead changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, insert, or_, select, update

from kohorte.service.access import DATASET, JOBS, PROJECT
from kohorte.service.context import Service
from kohorte.service.storage.schema import jobs, now, projects

LEASE_SECONDS = 30.0
MOST_ATTEMPTS = 3
LONGEST_MESSAGE = 200


class Kind(StrEnum):
    """What a job does."""

    INGEST = "ingest"
    ANONYMIZE = "anonymize"
    RISK = "risk"
    CHECK = "check"


class Subject(NamedTuple):
    """The object of a job: a dataset, a project, or something without an id that exists once per service."""

    kind: str
    id: int | None = None

    def __str__(self) -> str:
        return self.kind if self.id is None else f"{self.kind} {self.id}"


class State(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class Claim:
    """A job that a worker has taken, in a certain attempt."""

    job_id: int
    attempt: int
    worker: str
    kind: Kind
    subject: Subject
    dataset_id: int | None
    request: Mapping[str, Any] = field(repr=False)

    @property
    def running(self) -> ColumnElement[bool]:
        """The condition under which this attempt may write."""
        return and_(
            jobs.c.id == self.job_id,
            jobs.c.attempt == self.attempt,
            jobs.c.worker == self.worker,
            jobs.c.state == State.RUNNING,
        )


def enqueue(
    service: Service,
    connection: Connection,
    kind: Kind,
    subject: Subject,
    *,
    actor_id: int,
    request: Mapping[str, Any],
) -> int:
    """Add a job in the caller's transaction, so that the job and its object appear together."""
    sealed = service.vault.seal(json.dumps(request), label=_label(connection, kind, subject))
    found = connection.execute(
        insert(jobs)
        .values(
            kind=str(kind),
            state=str(State.QUEUED),
            creator_id=actor_id,
            subject_kind=subject.kind,
            subject_id=subject.id,
            sealed_request=sealed,
            progress=0.0,
            message="",
            attempt=0,
            cancel_requested=False,
            created_at=now(),
        )
        .returning(jobs.c.id)
    )
    return int(found.scalar_one())


def subject_of(row: Row[Any]) -> Subject:
    """Return what the job of a row is about."""
    return Subject(row.subject_kind, row.subject_id)


def claim(service: Service, worker: str) -> Claim | None:
    """Take the oldest job that is queued or whose lease has expired."""
    with service.database.reading() as connection:  # usually there is none, and no writer has to wait
        if connection.execute(_free(connection)).first() is None:
            return None
    with service.database.writing() as connection:
        row = connection.execute(_free(connection).with_for_update(of=jobs, skip_locked=True)).one_or_none()
        if row is None:
            return None
        connection.execute(
            update(jobs)
            .where(jobs.c.id == row.id)
            .values(
                state=str(State.RUNNING),
                attempt=row.attempt + 1,
                worker=worker,
                lease_until=lease_end(connection),
                started_at=now(),
                progress=0.0,
                message="",
            )
        )
        label = request_label(connection, row)
    request = json.loads(service.vault.unseal(row.sealed_request, label=label))
    return Claim(row.id, row.attempt + 1, worker, Kind(row.kind), subject_of(row), row.dataset_id, request)


def _free(connection: Connection) -> Select[Any]:
    lost = and_(expired(clock(connection)), jobs.c.attempt < MOST_ATTEMPTS)
    free = and_(or_(jobs.c.state == State.QUEUED, lost), ~jobs.c.cancel_requested)
    return JOBS.where(free).order_by(jobs.c.id).limit(1)


def expired(moment: datetime) -> ColumnElement[bool]:
    """The condition that the lease of a running job has expired."""
    return and_(jobs.c.state == State.RUNNING, jobs.c.lease_until < moment)


def lease_end(connection: Connection) -> datetime:
    """Return when a lease that begins now expires."""
    return clock(connection) + timedelta(seconds=LEASE_SECONDS)


def clock(connection: Connection) -> datetime:
    """Return the time of the database, which may be on another computer: leases need one clock."""
    if connection.dialect.name == "sqlite":
        return now()
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment


def renew(service: Service, claim: Claim) -> bool:
    """Extend the lease of a job; False if another worker has it or it has ended."""
    with service.database.writing() as connection:
        changed = connection.execute(update(jobs).where(claim.running).values(lease_until=lease_end(connection)))
        return changed.rowcount == 1


def report_progress(service: Service, claim: Claim, progress: float, message: str) -> bool:
    """Store the progress of a job, from 0 to 1; False if another worker has it or it has ended."""
    values = {"progress": min(max(progress, 0.0), 1.0), "message": message[:LONGEST_MESSAGE]}
    with service.database.writing() as connection:
        changed = connection.execute(
            update(jobs).where(claim.running).values(lease_until=lease_end(connection), **values)
        )
        return changed.rowcount == 1


def standing(service: Service, claim: Claim) -> Row[Any] | None:
    """Return the row of a job if this attempt still holds it, or None."""
    with service.database.reading() as connection:
        return connection.execute(select(jobs).where(claim.running)).one_or_none()


def give_back(service: Service, claim: Claim, *, counted: bool) -> bool:
    """Put an unfinished job back into the queue; without `counted` the attempt does not count towards the limit."""
    with service.database.writing() as connection:
        changed = connection.execute(
            update(jobs)
            .where(claim.running)
            .values(
                state=str(State.QUEUED),
                attempt=claim.attempt - (not counted),
                worker=None,
                lease_until=None,
                started_at=None,
                progress=0.0,
                message="",
            )
        )
        return changed.rowcount == 1


def job_to_dict(row: Row[Any]) -> dict[str, Any]:
    """Return a job as the interface shows it."""
    return {
        "job_id": row.id,
        "kind": row.kind,
        "state": row.state,
        "progress": row.progress,
        "message": row.message,
        "attempt": row.attempt,
        "subject_kind": row.subject_kind,
        "subject_id": row.subject_id,
        "dataset_id": row.dataset_id,
        "project_id": row.project_id,
        "created_at": _iso(row.created_at),
        "started_at": _iso(row.started_at),
        "ended_at": _iso(row.ended_at),
        "result": row.result,
        "problem": row.problem,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def request_label(connection: Connection, row: Row[Any]) -> str:
    """Return the label under which the request of a job is sealed."""
    return _label(connection, row.kind, subject_of(row))


def _label(connection: Connection, kind: str, subject: Subject) -> str:
    """The labels for datasets and projects are those of earlier versions, so that older requests can be unsealed."""
    if subject.kind == DATASET:
        return f"job {kind} of dataset {subject.id}, project None"
    if subject.kind == PROJECT:
        dataset = select(projects.c.dataset_id).where(projects.c.id == subject.id)
        return f"job {kind} of dataset {connection.execute(dataset).scalar_one()}, project {subject.id}"
    return f"job {kind} of {subject}"
