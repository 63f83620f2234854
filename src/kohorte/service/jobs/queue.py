"""The queue: jobs as rows of the database, taken by one worker at a time.

A worker has a job for the time of a lease, which it renews. When the lease has run out, another worker may take the
job: that is one more attempt. Whatever a worker writes about a job is conditional on its own attempt still running, so
that one that was thought dead changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, insert, or_, select, update

from kohorte.service.context import Service
from kohorte.service.storage.schema import jobs, now

LEASE_SECONDS = 30.0
MOST_ATTEMPTS = 3
LONGEST_MESSAGE = 200


class Kind(StrEnum):
    """What a job does."""

    INGEST = "ingest"
    ANONYMIZE = "anonymize"
    RISK = "risk"


class State(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class Claim:
    """A job that a worker has: this attempt of it, and no other."""

    job_id: int
    attempt: int
    worker: str
    kind: Kind
    dataset_id: int
    project_id: int | None
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
    *,
    actor_id: int,
    dataset_id: int,
    project_id: int | None = None,
    request: Mapping[str, Any],
) -> int:
    """Add a job in the caller's transaction: it is there when what it is about is there."""
    sealed = service.vault.seal(json.dumps(request), label=_label(kind, dataset_id, project_id))
    found = connection.execute(
        insert(jobs)
        .values(
            kind=str(kind),
            state=str(State.QUEUED),
            creator_id=actor_id,
            dataset_id=dataset_id,
            project_id=project_id,
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


def claim(service: Service, worker: str) -> Claim | None:
    """Take the oldest job that waits, or whose worker has not been heard of for a lease."""
    with service.database.reading() as connection:  # most of the time there is none, and no writer has to wait
        if connection.execute(_free(connection)).first() is None:
            return None
    with service.database.writing() as connection:
        row = connection.execute(_free(connection).with_for_update(skip_locked=True)).one_or_none()
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
    request = service.vault.unseal(row.sealed_request, label=_label(row.kind, row.dataset_id, row.project_id))
    return Claim(
        row.id, row.attempt + 1, worker, Kind(row.kind), row.dataset_id, row.project_id, request=json.loads(request)
    )


def _free(connection: Connection) -> Select[Any]:
    lost = and_(expired(clock(connection)), jobs.c.attempt < MOST_ATTEMPTS)
    free = and_(or_(jobs.c.state == State.QUEUED, lost), ~jobs.c.cancel_requested)
    return select(jobs).where(free).order_by(jobs.c.id).limit(1)


def expired(moment: datetime) -> ColumnElement[bool]:
    """The condition of jobs whose worker was not heard of for a lease."""
    return and_(jobs.c.state == State.RUNNING, jobs.c.lease_until < moment)


def lease_end(connection: Connection) -> datetime:
    """Return when a lease that begins now runs out."""
    return clock(connection) + timedelta(seconds=LEASE_SECONDS)


def clock(connection: Connection) -> datetime:
    """Return the time of the database where that may be another computer: leases need one clock."""
    if connection.dialect.name == "sqlite":
        return now()
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment


def renew(service: Service, claim: Claim) -> bool:
    """Go on having a job; False when somebody else has it, or it has ended."""
    with service.database.writing() as connection:
        changed = connection.execute(update(jobs).where(claim.running).values(lease_until=lease_end(connection)))
        return changed.rowcount == 1


def report_progress(service: Service, claim: Claim, progress: float, message: str) -> bool:
    """Say how far a job is, from 0 to 1; False when somebody else has it, or it has ended."""
    values = {"progress": min(max(progress, 0.0), 1.0), "message": message[:LONGEST_MESSAGE]}
    with service.database.writing() as connection:
        changed = connection.execute(
            update(jobs).where(claim.running).values(lease_until=lease_end(connection), **values)
        )
        return changed.rowcount == 1


def standing(service: Service, claim: Claim) -> Row[Any] | None:
    """Return the row of a job that this attempt still has, or None."""
    with service.database.reading() as connection:
        return connection.execute(select(jobs).where(claim.running)).one_or_none()


def give_back(service: Service, claim: Claim, *, counted: bool) -> bool:
    """Put a job back that was not finished; an attempt that is not counted is as if it had never been."""
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


def _label(kind: str, dataset_id: int, project_id: int | None) -> str:
    return f"job {kind} of dataset {dataset_id}, project {project_id}"
