"""The end of a job: everything changes together, once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from kohorte.errors import AccessDenied, InputError, NoSolution
from kohorte.service.access import Actor
from kohorte.service.audit import AuditLog, verify_log
from kohorte.service.context import Service
from kohorte.service.jobs import queue, settlement
from kohorte.service.jobs.queue import State
from kohorte.service.jobs.settlement import Outcome, cancel, settle, settle_lost
from kohorte.service.storage.schema import audit, datasets, jobs, now, projects
from support.jobs import let_leases_run_out, locked_files, new_creator, new_dataset, new_project, row_of
from support.marked_rows import mark_rows
from support.service import RESEARCHER, STEWARD


def claimed(service: Service) -> queue.Claim:
    found = queue.claim(service, "w")
    assert found is not None
    return found


def ingested(service: Service) -> Outcome:
    values = {"table_file": service.vault.write(b"table"), "table_sha256": "0" * 64, "rows": 3, "columns": []}
    return Outcome(State.DONE, result={"rows": 3}, values=values)


def entries(service: Service) -> list[str]:
    with service.database.reading() as connection:
        return [f"{row.action} {row.details['state']}" for row in connection.execute(select(audit)).all()]


def test_a_dataset_is_ready_and_the_upload_gone_when_its_job_is_done(service: Service) -> None:
    dataset_id, job_id = new_dataset(service)
    outcome = ingested(service)
    assert settle(service, claimed(service), outcome)
    row, job = row_of(service, datasets, dataset_id), row_of(service, jobs, job_id)
    assert (row.state, row.rows, row.uploaded_file) == ("ready", 3, None)
    assert (job.state, job.progress, job.result, job.lease_until) == ("done", 1.0, {"rows": 3}, None)
    assert locked_files(service) == {row.table_file} == {outcome.values["table_file"]}
    assert entries(service) == ["end-job done"]
    assert verify_log(service.database, service.log).whole


def test_a_job_ends_once(service: Service) -> None:
    new_dataset(service)
    claim = claimed(service)
    assert settle(service, claim, Outcome.cancelled())
    assert not settle(service, claim, ingested(service))
    assert entries(service) == ["end-job cancelled"]


def test_nothing_changes_when_the_audit_log_cannot_be_written(service: Service, monkeypatch: Any) -> None:
    dataset_id, job_id = new_dataset(service)
    claim = claimed(service)
    before = row_of(service, datasets, dataset_id), row_of(service, jobs, job_id), locked_files(service)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(AuditLog, "append", fail)
    with pytest.raises(RuntimeError):
        settle(service, claim, Outcome.cancelled())
    assert (row_of(service, datasets, dataset_id), row_of(service, jobs, job_id), locked_files(service)) == before


def test_a_failed_project_keeps_its_problem(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    settle(service, claimed(service), ingested(service))
    project_id, job_id = new_project(service, dataset_id)
    error = NoSolution("no release satisfies the plan", code="no-solution")
    assert settle(service, claimed(service), Outcome.failed(error))
    project = row_of(service, projects, project_id)
    assert (project.state, project.problem["code"], project.problem["status"]) == ("failed", "no-solution", 422)
    assert row_of(service, jobs, job_id).problem == project.problem


def test_the_files_of_a_release_that_is_made_anew_are_replaced(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    settle(service, claimed(service), Outcome.cancelled())
    project_id, _ = new_project(service, dataset_id)
    old, new = service.vault.write(b"old"), service.vault.write(b"new")
    with service.database.writing() as connection:
        connection.execute(update(projects).values(release_file=old))
        mark_rows(service, connection)
    assert settle(service, claimed(service), Outcome(State.DONE, values={"release_file": new, "report_file": None}))
    assert row_of(service, projects, project_id).release_file == new
    assert locked_files(service) == {new}


def test_what_was_made_for_a_deleted_dataset_is_removed(service: Service) -> None:
    dataset_id, _ = new_dataset(service)
    claim = claimed(service)
    with service.database.writing() as connection:
        connection.execute(update(datasets).values(deleted_at=now()))
        mark_rows(service, connection)
    assert settle(service, claim, ingested(service))
    assert row_of(service, datasets, dataset_id).table_file is None
    assert locked_files(service) == set()


def test_a_job_that_waits_is_cancelled_at_once(service: Service) -> None:
    dataset_id, job_id = new_dataset(service)
    steward = Actor(new_creator(service), STEWARD, "")
    row = cancel(service, steward, job_id)
    assert (row.state, row.problem["code"]) == ("cancelled", "job-cancelled")
    dataset = row_of(service, datasets, dataset_id)
    assert (dataset.state, dataset.uploaded_file, locked_files(service)) == ("failed", None, set())
    assert queue.claim(service, "w") is None
    with pytest.raises(InputError) as refused:
        cancel(service, steward, job_id)
    assert refused.value.code == "job-conflict"


def test_a_job_that_runs_is_asked_to_stop(service: Service) -> None:
    _, job_id = new_dataset(service)
    claim = claimed(service)
    steward = Actor(new_creator(service), STEWARD, "")
    row = cancel(service, steward, job_id)
    assert (row.state, row.cancel_requested) == ("running", True)
    let_leases_run_out(service)  # its worker has died: nobody shall try again
    assert queue.claim(service, "w") is None
    assert settle_lost(service) == 1
    assert row_of(service, jobs, job_id).state == "cancelled"
    assert not settle(service, claim, Outcome.cancelled())


def test_a_cancelled_job_that_is_given_back_is_not_taken_again(service: Service) -> None:
    _, job_id = new_dataset(service)
    claim = claimed(service)
    cancel(service, Actor(new_creator(service), STEWARD, ""), job_id)
    queue.give_back(service, claim, counted=False)
    assert queue.claim(service, "w") is None
    assert settle_lost(service) == 1
    assert row_of(service, jobs, job_id).state == "cancelled"


def test_a_job_that_is_given_back_while_it_is_cancelled_is_cancelled(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job_id = new_dataset(service)
    claim, real = claimed(service), settlement._ended

    def and_then_it_is_given_back(*arguments: Any, **options: Any) -> bool:
        ended = real(*arguments, **options)
        assert queue.give_back(service, claim, counted=False)
        return ended

    monkeypatch.setattr(settlement, "_ended", and_then_it_is_given_back)
    assert cancel(service, Actor(new_creator(service), STEWARD, "s"), job_id).cancel_requested
    monkeypatch.undo()
    assert queue.claim(service, "other") is None
    assert settle_lost(service) == 1
    assert row_of(service, jobs, job_id).state == "cancelled"


def test_a_job_that_nobody_may_see_cannot_be_cancelled(service: Service) -> None:
    _, job_id = new_dataset(service)
    stranger = replace(Actor(new_creator(service), STEWARD, ""), roles=RESEARCHER)
    with pytest.raises(AccessDenied) as refused:
        cancel(service, stranger, job_id)
    assert refused.value.code == "not-found"
