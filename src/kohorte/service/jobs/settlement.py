"""End a job: its row, the row that waits for it and the audit log change in one transaction, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select, update

from kohorte.errors import EngineError, InputError, KohorteError
from kohorte.service.access import JOBS, Actor, job_for
from kohorte.service.context import Service
from kohorte.service.jobs.queue import MOST_ATTEMPTS, Claim, Kind, State, clock, expired
from kohorte.service.jobs.tasks import TASKS
from kohorte.service.problems import problem, problem_of
from kohorte.service.storage.schema import jobs, now

CANCELLED = problem(HTTPStatus.CONFLICT, code="job-cancelled", detail="the job was cancelled")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job; `values` are for the row that waits for it."""

    state: State
    result: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def failed(cls, error: KohorteError) -> Outcome:
        """The outcome of a job that raised this error."""
        return cls(State.FAILED, problem=problem_of(error))

    @classmethod
    def cancelled(cls) -> Outcome:
        """The outcome of a job that was cancelled."""
        return cls(State.CANCELLED, problem=CANCELLED)


def lost() -> Outcome:
    """Return the outcome of a job whose workers all died."""
    return Outcome.failed(EngineError("every worker that tried the job died", code="job-lost"))


def settle(service: Service, claim: Claim, outcome: Outcome) -> bool:
    """End the job of a claim; if another worker has it or it has ended, change nothing and return False."""
    return _ended(service, claim, claim.running, lambda _: outcome, uploaded=claim.request.get("file"))


def settle_lost(service: Service) -> int:
    """End the jobs that no worker has or may take: cancelled, or tried too often; return how many."""
    with service.database.reading() as connection:
        hopeless = _hopeless(clock(connection))
        found = connection.execute(select(jobs).where(hopeless)).all()
    return sum(_ended(service, row, and_(jobs.c.id == row.id, hopeless), _of_hopeless) for row in found)


def _hopeless(moment: datetime) -> ColumnElement[bool]:
    free = or_(jobs.c.state == State.QUEUED, expired(moment))
    return or_(and_(free, jobs.c.cancel_requested), and_(expired(moment), jobs.c.attempt >= MOST_ATTEMPTS))


def _of_hopeless(row: Row[Any]) -> Outcome:
    return Outcome.cancelled() if row.cancel_requested else lost()


def cancel(service: Service, actor: Actor, job_id: int) -> Row[Any]:
    """Cancel a queued job at once, or ask the worker of a running job to stop; return the job.

    A job that is put back into the queue meanwhile is not taken again: the next worker ends it.
    """
    with service.database.reading() as connection:
        row = job_for(service, connection, actor, job_id)
    waiting = and_(jobs.c.id == job_id, jobs.c.state == State.QUEUED)
    if not _ended(service, row, waiting, lambda _: Outcome.cancelled(), actor=actor.user_id):
        _ask_to_stop(service, actor, job_id)
    with service.database.reading() as connection:
        return connection.execute(JOBS.where(jobs.c.id == job_id)).one()


def _ask_to_stop(service: Service, actor: Actor, job_id: int) -> None:
    with service.database.writing() as connection:
        going_on = and_(jobs.c.id == job_id, jobs.c.state.in_((State.QUEUED, State.RUNNING)))
        changed = connection.execute(update(jobs).where(going_on).values(cancel_requested=True))
        if not changed.rowcount:
            raise InputError("the job has ended already", code="job-conflict")
        service.log.append(connection, "cancel-job", f"job {job_id}", actor=actor.user_id)


def _ended(
    service: Service,
    about: Claim | Row[Any],
    condition: ColumnElement[bool],
    outcome_of: Callable[[Row[Any]], Outcome],
    *,
    uploaded: str | None = None,
    actor: int | None = None,
) -> bool:
    """End the job if it still meets a condition; files that are no longer needed are removed afterwards.

    The row that waits for the job is locked first, in the same order as when it is deleted.
    """
    with service.database.writing() as connection:
        before = _locked(connection, about)
        row = connection.execute(select(jobs).where(condition).with_for_update()).one_or_none()
        if row is None:
            return False
        wanted = outcome_of(row)
        refusal = _refusal(service, connection, before, Kind(row.kind))
        outcome = wanted if refusal is None else Outcome.failed(refusal)
        connection.execute(update(jobs).where(jobs.c.id == row.id).values(**_values(row, outcome)))
        if refusal is None:
            unneeded = {uploaded, *_settle_row(service, connection, row, outcome, before)}
        else:
            unneeded = {uploaded, *_files(wanted, Kind(row.kind))}
        code = None if outcome.problem is None else str(outcome.problem["code"])
        service.log.append(
            connection, "end-job", f"job {row.id}", actor=actor, kind=row.kind, state=str(outcome.state), code=code
        )
    for name in unneeded:
        service.vault.remove(name)
    return True


def _values(row: Row[Any], outcome: Outcome) -> dict[str, Any]:
    return {
        "state": str(outcome.state),
        "result": outcome.result,
        "problem": outcome.problem,
        "progress": 1.0 if outcome.state is State.DONE else row.progress,
        "message": "",
        "lease_until": None,
        "ended_at": now(),
    }


def _refusal(service: Service, connection: Connection, before: Row[Any] | None, kind: Kind) -> KohorteError | None:
    """The error for a waiting row that was changed outside the service: it stays as it is, and the job fails."""
    prepares = TASKS[kind].prepares
    if prepares is None or before is None:
        return None
    problem = service.guard.problem(connection, prepares.rows, before)
    return None if problem is None else service.guard.refused(prepares.rows, before, problem)


def _files(outcome: Outcome, kind: Kind) -> tuple[str | None, ...]:
    """The files of an outcome that no row refers to."""
    prepares = TASKS[kind].prepares
    return () if prepares is None else tuple(outcome.values.get(name) for name in prepares.files)


def _locked(connection: Connection, about: Claim | Row[Any]) -> Row[Any] | None:
    """Lock the row that waits for a job, if any, and return it."""
    prepares = TASKS[Kind(about.kind)].prepares
    if prepares is None:
        return None
    subject_id = about.subject.id if isinstance(about, Claim) else about.subject_id
    table = prepares.rows.table
    found = select(table).where(table.c.id == subject_id).with_for_update()
    return connection.execute(found).one_or_none()


def _settle_row(
    service: Service, connection: Connection, row: Row[Any], outcome: Outcome, before: Row[Any] | None
) -> tuple[str | None, ...]:
    """Update the row that waits for a job, and return the files that it no longer refers to."""
    prepares = TASKS[Kind(row.kind)].prepares
    if prepares is None or before is None:
        return ()
    if before.deleted_at is not None:
        return _files(outcome, Kind(row.kind))
    state = "ready" if outcome.state is State.DONE else "failed"
    values = {"state": state, **prepares.ended(outcome.problem), **outcome.values}
    table = prepares.rows.table
    with service.guard.changing(connection, prepares.rows, before.id):
        connection.execute(update(table).where(table.c.id == before.id).values(**values))
    return tuple(before._asdict()[name] for name in prepares.files if name in values)
